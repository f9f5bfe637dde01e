"""Kernel-hinted kMAF on a running program: who shares sits together, and the pages come along."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from live_nodes import computing, nodes_run_on, nodes_used

from autofinity.linux.pages import nodes_of
from autofinity.model.topology import Topology

THREADS, PAGES, PAGE_BYTES = 4, 16, 4096  # partners.c; pages of each pair
PAIRS = THREADS // 2
AWAY = 1  # node where the pages begin, and where no thread may run
LEAST_PATIENCE_S = 60
STARTS = 8  # times what the monitor's start takes that the answer may take after it
ENOUGH_FAULTS = 100 * PAIRS * PAGES  # of the whole kernel; the answer takes 500 to 1,000 of them
LAST_WORDS_S = 15  # of the guest's time, to say how it ended


def test_partners_and_their_pages_come_together_on_a_node_for_each_pair(
    run: Any,
    programs: Path,
    topology: Topology,
    shape: Any,
    left_s: Callable[[], float],
) -> None:
    two_nodes = {0, shape.nodes - 1}
    options = ("--mechanism", "kmaf", "--migrate-pages", "--arm", "--threads", str(THREADS))
    program = (programs / "partners", str(THREADS), "3000", str(AWAY))

    def on_two_nodes() -> None:
        os.sched_setaffinity(0, {pu.os_index for pu in topology.pus if pu.node in two_nodes})

    def together(pid: int) -> bool:
        nodes = nodes_used(computing(pid), topology)
        return nodes[:PAIRS] == nodes[PAIRS:] and set(nodes) == two_nodes

    with run.lasting(
        *options,
        "--",
        *program,
        preexec_fn=on_two_nodes,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        start = int(process.stdout.readline(), 16)
        pages = [start + number * PAGE_BYTES for number in range(PAIRS * PAGES)]
        assert nodes_of(process.pid, pages) == [AWAY] * len(pages)
        answer_s = _patience(run, left_s)
        before = _hinting_faults()
        process.stdin.write(b"\n")
        process.stdin.flush()

        def done() -> bool:
            homes = nodes_used(computing(process.pid), topology)
            wanted = [node for node in homes[:PAIRS] for _ in range(PAGES)]
            return together(process.pid) and nodes_of(process.pid, pages) == wanted

        waiting = replace(run, patience_s=left_s() - LAST_WORDS_S)
        if not waiting.eventually(done):
            found = (computing(process.pid), Counter(nodes_of(process.pid, pages)), run.last())
            faults = _hinting_faults() - before
            said = f"after {waiting.patience_s:.0f} s and {faults} hinting faults"
            if waiting.patience_s < answer_s or faults < ENOUGH_FAULTS:
                pytest.skip(f"this host is too slow: no answer {said}")
            pytest.fail(f"not together {said}: {found}")
        assert nodes_run_on(process.pid, topology) == nodes_used(computing(process.pid), topology)


def _hinting_faults() -> int:
    """Hinting faults of all programs since the kernel began."""
    lines = Path("/proc/vmstat").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("numa_hint_faults "))


def _patience(run: Any, left_s: Callable[[], float]) -> float:
    """How long an answer may take here, by how long the monitor took to start; seconds.

    A machine that is emulated on a host that does other things has no speed of its own.
    """
    began = time.monotonic()
    starting = replace(run, patience_s=left_s() - LAST_WORDS_S)
    if not starting.eventually(lambda: run.last() is not None):
        pytest.skip(f"this host is too slow: no monitor after {starting.patience_s:.0f} s")
    return max(LEAST_PATIENCE_S, STARTS * (time.monotonic() - began))
