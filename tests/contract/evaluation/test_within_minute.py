"""Runs that stand for a minute, on the simulated machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_programs import own_pages
from sim_programs import kept

from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.lasting import Watched
from autofinity.evaluation.within_minute import within_minute
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import DISTRIBUTED, PACKED
from autofinity.model.policy import RulePolicy
from autofinity.ports import MovePages, RunRequest, Sensors
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


def started(machine: SimMachine, request: RunRequest) -> SimProcess:
    cpus = get_affinity(machine.topology, THREADS, DISTRIBUTED).cpus
    process = machine.start(request, bound(cpus), Sensors(("instructions",)))
    assert isinstance(process, SimProcess)
    return process


def test_a_run_takes_as_long_as_if_every_repeat_of_it_had_been_replayed(
    machine: SimMachine, tmp_path: Path
) -> None:
    request = request_for(tmp_path)
    whole = Watched.whole(started(machine, request), REPEATS)
    watched = Watched(started(machine, request), whole.region)
    watched.begin()
    lasting = watched.to_the_end()
    assert lasting.done < 2
    after_first_s = (whole.at_ns[-1] - whole.when(1)) / 1e9
    assert lasting.time_s(REPEATS - 1) == pytest.approx(after_first_s, rel=0.02)


def test_what_a_stretch_of_work_takes_at_the_last_pace_is_known_part_by_part(
    machine: SimMachine, tmp_path: Path
) -> None:
    request = request_for(tmp_path)
    region = Watched.whole(started(machine, request), REPEATS).region
    watched = Watched(started(machine, request), region)
    watched.to_the_end(2)
    assert watched.steady_ns(0.5, 2.5) == pytest.approx(2 * watched.repeat_ns, rel=0.05)


def test_the_decider_sees_threads_begin_though_the_first_repeat_is_over(
    machine: SimMachine, tmp_path: Path
) -> None:
    request = request_for(tmp_path)
    watched = Watched(started(machine, request), 1e5)
    watched.begin()
    assert (watched.progress, watched.at_ns) == ([0.0], [0.0])
    assert watched.advance(1000).threads("begin") == frozenset(range(THREADS))
    assert watched.advance(1000).threads("begin") == frozenset()


def test_pages_that_are_copied_are_counted_as_they_take_no_simulated_time(
    machine: SimMachine, tmp_path: Path
) -> None:
    watched = Watched(started(machine, request_for(tmp_path)), 1e5)
    watched.begin()
    (pages,) = watched.pages_on(0)
    watched.apply((MovePages(tuple(pages), (2,) * len(pages)),))
    assert len(pages) >= PAGES
    assert watched.moved_bytes == 4096 * len(pages)


def test_a_choice_that_makes_no_difference_is_decided_on_and_taken_back_within_the_minute(
    machine: SimMachine, tmp_path: Path
) -> None:
    """Each thread has its own few pages in its cache, wherever it is."""
    request = request_for(tmp_path)
    whole = Watched.whole(started(machine, request), REPEATS)
    setting = Setting(
        machine.topology,
        THREADS,
        machine.clock_hz,
        paper_second_ns=round(whole.at_ns[-1] / 60),
        policy=RulePolicy(("instructions",), {}, (), PACKED),
    )
    done = within_minute(machine, request, setting, REPEATS, whole.region)
    assert done.hint == DISTRIBUTED
    assert any(note.startswith("taken back") for note in done.notes)
    assert 0 < done.decided_s < 60
    assert done.time_s == pytest.approx(whole.at_ns[-1] / 1e9, rel=0.1)
