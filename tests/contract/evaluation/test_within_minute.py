"""Runs that stand for a minute, on the simulated machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from memory_programs import own_pages
from sim_programs import kept

from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.lasting import LastingProcess, region_of
from autofinity.evaluation.within_minute import within_minute
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.policy import RulePolicy
from autofinity.ports import RunRequest, Sensors
from autofinity.profiling.placements import bound
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess

THREADS, PAGES, REPEATS = 4, 8, 30


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    return SimMachine.preset("opteron-6164he")


def request_for(folder: Path, rounds: int = 20) -> RunRequest:
    trace = own_pages(THREADS, PAGES, rounds)
    return RunRequest(kept(trace, folder / "trace"), threads=THREADS, repeats=REPEATS)


def started(machine: SimMachine, request: RunRequest, repeats: int = REPEATS) -> SimProcess:
    cpus = get_affinity(machine.topology, THREADS, SPREAD).cpus
    sensors = Sensors(("instructions", "data_cache_accesses"))
    process = machine.start(replace(request, repeats=repeats), bound(cpus), sensors)
    assert isinstance(process, SimProcess)
    return process


def test_a_run_takes_and_counts_as_much_as_if_every_repeat_of_it_had_been_replayed(
    machine: SimMachine, tmp_path: Path
) -> None:
    request = request_for(tmp_path)
    region = region_of(started(machine, request, 1))
    whole = started(machine, request).advance(10**12)
    lasting = LastingProcess(started(machine, request), region, REPEATS)
    seen = lasting.advance(10**12)
    assert seen.ended
    assert seen.end_ns == pytest.approx(whole.end_ns, rel=0.02)
    assert seen.energy_j == pytest.approx(whole.energy_j, rel=0.02)
    for replayed, played in zip(whole.samples, seen.samples, strict=True):
        assert played.counts == pytest.approx(replayed.counts, rel=0.02, abs=PAGES)
    short = LastingProcess(started(machine, request), region).lasting()
    assert short.done < REPEATS / 4
    assert short.time_s(REPEATS) == pytest.approx(whole.end_ns / 1e9, rel=0.02)


def test_a_run_of_a_minute_is_decided_and_charged_with_its_looks(
    machine: SimMachine, tmp_path: Path
) -> None:
    """Each thread has its own few pages in its cache, wherever it is."""
    request = request_for(tmp_path)
    region = region_of(started(machine, request, 1))
    lasting = LastingProcess(started(machine, request), region).lasting()
    repeats = 60 / lasting.repeat_s
    setting = Setting(
        machine.topology,
        THREADS,
        machine.clock_hz,
        policy=RulePolicy(("instructions",), {}, (), PACKED),
    )
    done = within_minute(machine, request, setting, repeats, region)
    assert done.hint == PACKED
    assert 0.3 < done.decided_s < 10
    assert done.run.time_s == pytest.approx(60, rel=0.02)
    assert abs(done.looking_s) < 0.1
