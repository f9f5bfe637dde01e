"""A simulated program is not sampled before it has touched its memory.

`linux/test_long_set_up.py` is the same of a running one.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
from first_sample import FirstSample
from sim_programs import region

from autofinity._core.trace import TraceBuilder
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import PACKED
from autofinity.model.policy import RulePolicy
from autofinity.ports import RunRequest, Sensors
from autofinity.runtime.loop import run_loop
from autofinity.sim.machine import SimMachine

THREADS = 2
POLICY = RulePolicy(("llc_requests",), {}, (), PACKED)
SECOND_NS = 40_000
"""Simulated time that stands for one second."""
ROUNDS = 1500
"""Long enough for caches to be warm after a move, which is not scaled."""


def written(folder: Path, set_up_pages: int) -> str:
    """Two workers that touch so many pages each, a line of each, and then go over two of them."""
    folder.mkdir()
    builder = TraceBuilder()
    main, *workers = (builder.stream() for _ in range(1 + THREADS))
    builder.roi_begin(main)
    for worker in workers:
        builder.post(main, worker)
    for worker in workers:
        first = 10_000 * worker
        builder.wait(worker, worker)
        for page in range(set_up_pages):
            builder.access(worker, region(1, first + page)[0], 2, 1, gap=2000, span=8)
        for _ in range(ROUNDS):
            for line in region(2, first):
                builder.access(worker, line, 2, 1, gap=64, span=8)
        builder.post(worker, 10 + worker)
    for worker in workers:
        builder.wait(main, 10 + worker)
    builder.roi_end(main)
    builder.write(str(folder))
    return str(folder)


def watched(program: str) -> FirstSample:
    machine, seen = SimMachine.preset("opteron-6164he"), FirstSample()
    setting = Setting(
        machine.topology,
        THREADS,
        machine.clock_hz,
        paper_second_ns=SECOND_NS,
        policy=POLICY,
    )
    recipe = InRun(setting)
    process = machine.start(
        RunRequest(program, threads=THREADS), None, Sensors(recipe.sensors.counters)
    )
    start = recipe.begin(machine.topology, machine.topology.allowed, THREADS)
    run_loop(process, recipe, start, recipe.period_ns, seen)
    return seen


@pytest.mark.parametrize("pages", [0, 400])
def test_a_simulated_program_is_sampled_after_its_set_up(tmp_path: Path, pages: int) -> None:
    seen = watched(written(tmp_path / "trace", pages))
    set_up = pages * 2000 / (pages * 2000 + ROUNDS * 128 * 64)  # of all instructions
    assert seen.at_ns > 0
    assert set_up <= seen.progress <= set_up + 0.5 * (1 - set_up)
    assert seen.phases == ["watching", "settling", "sampling", "placed"]
    grown = [after - before for before, after in itertools.pairwise(seen.resident_bytes)]
    assert all(size >= 0 for size in grown)
    assert not math.isnan(seen.resident_bytes[-1])
    assert seen.resident_bytes[-1] >= 4096 * THREADS * max(pages, 2)
    assert grown[-1] == 0


def test_a_program_without_a_set_up_is_sampled_after_two_looks(tmp_path: Path) -> None:
    seen = watched(written(tmp_path / "trace", 0))
    assert len(seen.resident_bytes) <= 4
