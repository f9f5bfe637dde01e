"""`autofinity run` on a machine with several nodes, also with only a part of it."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from live_nodes import computing, nodes_run_on, nodes_used

from autofinity.linux.bind import StartMask, allowed_now, cpuset_of
from autofinity.linux.memory import memory_of
from autofinity.model.affinity import Hint
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.topology import Topology
from autofinity.runtime.creation_seats import seats_text
from autofinity.runtime.decisions import read_decisions, write_decision

THREADS = 4
SPREAD, PACKED = Hint.parse("SLP"), Hint.parse("slp")


def test_threads_of_a_program_are_bound_to_one_node_as_the_policy_says(
    run: Any, programs: Path, policy_of: Any, topology: Topology
) -> None:
    options = ("--threads", str(THREADS), "--bind", "core", "--period", "0.5s")
    program = (programs / "workers", str(THREADS), "3000")

    def a_core_each_on_one_node() -> bool:
        masks = computing(process.pid)
        return (
            [len(mask) for mask in masks] == [1] * THREADS
            and len(set(masks)) == THREADS
            and len(set(nodes_used(masks, topology))) == 1
        )

    with run.lasting("--policy", policy_of(PACKED), *options, "--", *program) as process:
        assert run.eventually(a_core_each_on_one_node), computing(process.pid)


def test_thread_n_of_a_known_program_begins_on_the_nth_seat(
    run: Any, programs: Path, policy_of: Any, topology: Topology, tmp_path: Path
) -> None:
    """On the last CPU of a node each, from the last node on; the second monitor never begins."""
    options = ("--policy", policy_of(SPREAD), "--threads", str(THREADS), "--bind", "core")
    program = (programs / "workers", str(THREADS), "3000")
    cache = run.db.with_name("decisions")
    with run.lasting(*options, "--period", "0.5s", "--", *program):
        assert run.eventually(lambda: read_decisions(cache))
    nodes = [topology.n_nodes - 1 - number for number in range(THREADS)]
    seats = [frozenset([max(p.os_index for p in topology.pus if p.node == n)]) for n in nodes]
    (known,) = read_decisions(cache)
    write_decision(cache, replace(known, seats=seats_text((topology.allowed, *seats))))
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nexec sleep 3000\n")
    python.chmod(0o755)
    env = run.env | {"AUTOFINITY_PYTHON": str(python)}
    with run.lasting(*options, "--", *program, env=env) as process:
        assert run.eventually(lambda: computing(process.pid) == seats), computing(process.pid)
        assert run.eventually(lambda: nodes_run_on(process.pid, topology) == nodes)


def test_pages_go_along_to_the_node_that_all_threads_are_sent_to(
    run: Any, programs: Path, policy_of: Any, topology: Topology
) -> None:
    options = ("--threads", str(THREADS), "--bind", "core", "--period", "0.5s")
    program = (programs / "workers", str(THREADS), "3000", "2")

    def notes() -> str:
        last = run.last()
        return last.notes if last is not None else ""

    with run.lasting("--policy", policy_of(PACKED), *options, "--", *program) as process:

        def followed() -> bool:
            nodes = set(nodes_used(computing(process.pid), topology))
            found = memory_of([process.pid], topology.node_os_indices)
            on_one = len(nodes) == 1 and found is not None and found.share(nodes.pop()) > 0.95
            return on_one and "pages were moved to their threads" in notes()

        assert run.eventually(followed), notes()
        assert "left behind is" in notes()


def test_pages_stay_where_the_user_keeps_them(run: Any, programs: Path, topology: Topology) -> None:
    """Threads are sent to one node, and their pages are on several."""
    options = ("--hint", str(PACKED), "--keep-pages", "--threads", str(THREADS), "--bind", "core")
    program = (programs / "workers", str(THREADS), "3000", "2")

    def share(pid: int) -> float:
        nodes = set(nodes_used(computing(pid), topology))
        found = memory_of([pid], topology.node_os_indices)
        return found.share(nodes.pop()) if len(nodes) == 1 and found is not None else math.nan

    with run.lasting(*options, "--", *program) as process:
        assert run.eventually(lambda: math.isfinite(share(process.pid)))
        before = share(process.pid)
        time.sleep(3)
        assert share(process.pid) == pytest.approx(before, abs=0.05)
        assert before < 0.95
        last = run.last()
        assert last is not None and "pages stay where they are (--keep-pages)" in last.notes


def test_a_program_is_placed_within_its_cpuset_and_again_when_that_changes(
    run: Any, programs: Path, policy_of: Any, cgroup: Any, shape: Any
) -> None:
    # The last CPU of node 0, all of node 1, the first of node 2; memory of node 1 only.
    inside = f"{shape.cores - 1}-{2 * shape.cores}"
    cgroup.set(inside, "1")
    options = ("--policy", policy_of(PACKED), "--threads", str(THREADS), "--period", "0.5s")
    program = (programs / "workers", str(THREADS), "3000")
    with run.lasting(*options, "--", *program, preexec_fn=cgroup.enter) as process:
        cpus = parse_cpu_list(inside)
        assert cpuset_of(process.pid) == cpus
        assert allowed_now(process.pid, StartMask(frozenset(parse_cpu_list("0-4095")))) == cpus
        whole = frozenset(range(shape.cores, 2 * shape.cores))
        assert run.eventually(lambda: computing(process.pid) == [whole] * THREADS)
        # No longer the first CPU of node 1, but all of node 2.
        cgroup.set(f"{shape.cores + 1}-{3 * shape.cores - 1}", "1")
        other = frozenset(range(2 * shape.cores, 3 * shape.cores))
        assert run.eventually(lambda: computing(process.pid) == [other] * THREADS)


def test_a_program_is_placed_on_the_cpus_that_are_online(
    run: Any, programs: Path, policy_of: Any, online: Any, shape: Any, topology: Topology
) -> None:
    off = {1, shape.cores}
    online.switch_off(*off)
    options = ("--threads", str(THREADS), "--bind", "core", "--period", "0.5s")
    program = (programs / "workers", str(THREADS), "3000")

    def one_a_node() -> bool:
        masks = computing(process.pid)
        return (
            [len(mask) for mask in masks] == [1] * THREADS
            and len(set(nodes_used(masks, topology))) == THREADS
            and not off & frozenset[int]().union(*masks)
        )

    with run.lasting("--policy", policy_of(SPREAD), *options, "--", *program) as process:
        assert run.eventually(one_a_node), computing(process.pid)


def test_ranks_that_begin_together_are_placed_on_a_node_each(
    run: Any, programs: Path, shape: Any, topology: Topology
) -> None:
    options = ("--hint", str(PACKED), "--threads", "2", "--bind", "core")
    program = (programs / "workers", "2", "3000")
    ranks = range(shape.nodes)
    with ExitStack() as stack:
        started = []
        for rank in ranks:
            given = {  # as mpirun of Open MPI gives them
                "OMPI_COMM_WORLD_LOCAL_SIZE": str(shape.nodes),
                "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
            }
            words = (*options, "--", *program)
            started.append(stack.enter_context(run.lasting(*words, env=run.env | given)))

        def own_nodes() -> bool:
            found = [computing(process.pid) for process in started]
            return all(
                [len(mask) for mask in masks] == [1, 1]
                and masks[0] != masks[1]
                and set(nodes_used(masks, topology)) == {rank}
                for rank, masks in zip(ranks, found, strict=True)
            )

        assert run.eventually(own_nodes), [computing(process.pid) for process in started]
