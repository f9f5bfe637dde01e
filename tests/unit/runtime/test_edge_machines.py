"""Machines as users of such tools report them: from sysfs to the mask of every thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_machine import cpus

from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.affinity import HINTS, SPREAD
from autofinity.model.topology import PU, OsIndex, Topology
from autofinity.runtime.masks import Binding, isolation_note
from autofinity.runtime.plan import HintPlan, plan_hints
from tests.support.topology_sysfs_tree import write_sysfs

NOBODY: frozenset[OsIndex] = frozenset()


def machine(
    number: Callable[[int, int], int],
    *,
    sockets: int = 2,
    cores: int = 4,
    smt: int = 2,
    nodes: tuple[int, ...] = (0, 1),
) -> Topology:
    """A cache and a node for each socket; `number` gives the CPU of a core and SMT rank. Nodes
    beyond the sockets have memory alone.
    """
    pus = tuple(
        PU(OsIndex(number(core, rank)), rank, core, core // cores, core // cores, core // cores)
        for core in range(sockets * cores)
        for rank in range(smt)
    )
    distances = tuple(
        tuple(10 if a == b else 20 for b in range(len(nodes))) for a in range(len(nodes))
    )
    allowed = frozenset(pu.os_index for pu in pus)
    return Topology("host", "host", pus, tuple(map(OsIndex, nodes)), distances, allowed)


def siblings_last(core: int, rank: int) -> int:
    return 8 * rank + core


def read(folder: Path, shown: Topology, allowed: frozenset[OsIndex] | None = None) -> Topology:
    return read_sysfs(
        write_sysfs(folder, shown), allowed=allowed or shown.allowed, cpuinfo=folder / "none"
    )


def plans(topology: Topology, threads: int, bind: Binding = "core") -> dict[str, HintPlan]:
    plan = plan_hints(topology, threads, topology.allowed, NOBODY, bind)
    assert plan.note == ""
    assert [each.hint for each in plan.hints] == list(HINTS)
    return {str(each.hint): each for each in plan.hints}


def test_cpu_ids_above_1023_are_placed_like_any_other(tmp_path: Path) -> None:
    topology = read(tmp_path, machine(lambda core, rank: 1020 + siblings_last(core, rank)))
    found = plans(topology, 8)["SLP"]
    assert found.masks == tuple(cpus(1020 + core) for core in range(8))
    assert plans(topology, 16, "llc")["SLP"].masks[0] == cpus(
        *range(1020, 1024), *range(1028, 1032)
    )


def test_more_than_64_threads_are_placed_one_a_core(tmp_path: Path) -> None:
    topology = read(
        tmp_path,
        machine(lambda core, rank: core, sockets=4, cores=24, smt=1, nodes=(0, 1, 2, 3)),
    )
    for found in plans(topology, 96).values():
        assert len(set(found.masks)) == 96
    packed = plans(topology, 70)["slp"]
    assert len({topology.by_os_index[cpu].package for cpu in packed.cores.cpus}) == 3


def test_sparse_node_ids_and_nodes_of_memory_alone_take_no_threads(tmp_path: Path) -> None:
    topology = read(tmp_path, machine(siblings_last, nodes=(1, 8, 250)))
    assert topology.node_os_indices == (1, 8, 250)
    for found in plans(topology, 8).values():
        assert {topology.by_os_index[cpu].node for cpu in found.cores.cpus} <= {0, 1}


def test_nodes_of_cpus_alone_are_known_to_have_no_memory(tmp_path: Path) -> None:
    shown = machine(siblings_last)
    write_sysfs(tmp_path, shown)
    (tmp_path / "devices/system/node/has_memory").write_text("1\n")
    topology = read_sysfs(tmp_path, allowed=shown.allowed, cpuinfo=tmp_path / "none")
    assert topology.memoryless_nodes == {0}
    assert len(plans(topology, 8)["SLP"].masks) == 8


def test_a_cpuset_that_does_not_start_at_zero_is_kept_to(tmp_path: Path) -> None:
    allowed = cpus(5, 6, 7, 13)
    topology = read(tmp_path, machine(siblings_last), allowed)
    for found in plans(topology, 3).values():
        assert set(found.cores.cpus) == {5, 6, 7}  # a core each, though 13 is allowed too
    for found in plans(topology, 4, "llc").values():
        assert set(found.masks) == {allowed}


def test_of_a_core_that_is_partly_allowed_the_allowed_sibling_is_taken(tmp_path: Path) -> None:
    allowed = cpus(8, 1, 10, 3)  # second siblings of cores 0 and 2, first ones of 1 and 3
    topology = read(tmp_path, machine(siblings_last), allowed)
    for found in plans(topology, 4).values():
        assert set(found.cores.cpus) == allowed
        assert frozenset().union(*found.masks) == allowed


@pytest.mark.parametrize("threads", [2, 8])
def test_interleaved_numbering_changes_names_and_not_places(tmp_path: Path, threads: int) -> None:
    plain = read(tmp_path / "plain", machine(siblings_last))
    turned = read(  # even CPUs on one socket, odd ones on the other, siblings beside each other
        tmp_path / "turned", machine(lambda core, rank: 4 * (core % 4) + 2 * rank + core // 4)
    )

    def sockets(topology: Topology, found: HintPlan) -> list[int]:
        return sorted(topology.by_os_index[cpu].package for cpu in found.cores.cpus)

    for hint, found in plans(plain, threads).items():
        other = plans(turned, threads)[hint]
        assert other.cores.affinity == found.cores.affinity
        assert len(sockets(turned, other)) == len(sockets(plain, found))
        cores = {turned.by_os_index[cpu].core for cpu in other.cores.cpus}
        assert len(cores) == len({plain.by_os_index[cpu].core for cpu in found.cores.cpus})


def test_more_threads_than_cpus_are_left_as_they_are_with_a_note(tmp_path: Path) -> None:
    topology = read(tmp_path, machine(siblings_last))
    plan = plan_hints(topology, 17, topology.allowed, NOBODY, "llc")
    assert plan.hints == ()
    assert plan.note.startswith("left as it is: ")
    assert len(plan_hints(topology, 16, topology.allowed, NOBODY, "llc").hints) == len(HINTS)


def test_a_mask_of_one_cpu_leaves_nothing_to_choose(tmp_path: Path) -> None:
    topology = read(tmp_path, machine(siblings_last), cpus(6))
    assert plans(topology, 1)[str(SPREAD)].masks == (cpus(6),)


def test_a_thread_on_a_fast_core_may_use_the_fast_cores_of_its_cache(tmp_path: Path) -> None:
    shown = machine(lambda core, rank: core, sockets=1, cores=4, smt=1, nodes=(0,))
    pus = tuple(replace(pu, efficiency=int(pu.os_index > 1)) for pu in shown.pus)
    topology = read(tmp_path, replace(shown, pus=pus))
    for plan in plans(topology, 2, "llc").values():
        assert plan.masks == (cpus(2, 3), cpus(2, 3))
    for plan in plans(topology, 3, "llc").values():
        assert plan.masks == (cpus(2, 3), cpus(2, 3), cpus(0, 1))


def isolate(folder: Path, text: str) -> None:
    (folder / "devices/system/cpu/isolated").write_text(f"{text}\n")


def test_threads_are_not_placed_on_cpus_that_the_kernel_has_isolated(tmp_path: Path) -> None:
    shown = machine(siblings_last)
    write_sysfs(tmp_path, shown)
    isolate(tmp_path, "4-7,12-15")  # the second socket; a cgroup's mask has them all the same
    topology = read_sysfs(tmp_path, allowed=shown.allowed, cpuinfo=tmp_path / "none")
    available = topology.balanced(topology.allowed)
    assert available == cpus(*range(4), *range(8, 12))
    plan = plan_hints(topology, 4, available, NOBODY, "llc")
    assert {mask for each in plan.hints for mask in each.masks} == {available}
    assert isolation_note(topology).endswith(
        "CPUs 4-7,12-15 are isolated, so the kernel balances no threads there: threads are placed "
        "on the others"
    )


def test_on_isolated_cpus_alone_each_thread_keeps_to_its_own(tmp_path: Path) -> None:
    shown = machine(siblings_last)
    write_sysfs(tmp_path, shown)
    isolate(tmp_path, "1-7")
    chosen = cpus(1, 2, 3, 4, 5, 6)  # taskset
    topology = read_sysfs(tmp_path, allowed=chosen, cpuinfo=tmp_path / "none")
    assert topology.balanced(chosen) == chosen
    for found in plans(topology, 4, "llc").values():
        assert len(set(found.masks)) == 4
        assert all(len(mask) == 1 for mask in found.masks)
    assert isolation_note(topology).endswith("each thread that is placed keeps to one of them")
    assert isolation_note(read(tmp_path / "other", shown)) == ""
