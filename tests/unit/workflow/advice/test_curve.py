"""How many threads are worth having, by the times of the same work at several counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_machine import machine
from memory_programs import own_pages
from sim_programs import kept

from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.speed_curve import PAYS, Curve, Point
from autofinity.linux.counted_program import CountedRun
from autofinity.linux.event_tables import Encoding
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.errors import CapabilityError, UsageError
from autofinity.model.policy import RulePolicy
from autofinity.model.ratios import OTHER_LLC
from autofinity.sim.preset import load_preset
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.workflow.advice import curve_here as here
from autofinity.workflow.advice import curve_simulated
from autofinity.workflow.advice.curve_counts import checked_counts, usual_counts
from autofinity.workflow.advice.curve_simulated import curve_of_trace, siblings_of
from autofinity.workflow.simulate import Seats, simulate_trace

SIBLINGS = machine(packages=2, llcs=1, cores=4, smt=2)
SPEC = load_preset("xeon-e5-2650")  # two sockets of eight cores with two threads each


def curve(*times_s: float, scatter: float | None = None) -> Curve:
    """At 1, 2, 4, … threads."""
    points = tuple(
        Point(1 << number, 1 << number, 1 << number, time_s, scatter=scatter)
        for number, time_s in enumerate(times_s)
    )
    return Curve("app", "m", "threads", points)


@pytest.mark.parametrize(
    ("times_s", "enough", "advice"),
    [
        ((8.0, 4.0, 2.0), 4, "all 4 threads that were tried pay"),
        ((8.0, 4.0, 3.9), 2, "2 threads are enough: with more it is 2.5% faster at most"),
        ((8.0, 4.0, 4.4, 6.0), 2, "2 threads are enough: more is no faster"),
        ((1.0, 2.0), 1, "1 thread is enough: more is no faster"),
        ((1.0,), 1, "one count of threads was tried"),
    ],
)
def test_threads_are_enough_where_more_are_faster_by_less_than_pays(
    times_s: tuple[float, ...], enough: int, advice: str
) -> None:
    found = curve(*times_s)
    assert found.enough.threads == enough
    assert found.advice == advice


def test_what_runs_scatter_is_no_gain() -> None:
    assert curve(8.0, 4.0, 3.5).enough.threads == 4
    assert curve(8.0, 4.0, 3.5, scatter=0.2).enough.threads == 2


def test_a_curve_says_which_differences_are_noise() -> None:
    once = curve(8.0, 4.0, 3.9)
    assert (once.scatter, once.noise) == (None, PAYS)
    assert once.on_noise == (
        "differences up to 5.0% count as none (noise was not measured, each count has one time); "
        "within that of the fastest: 2, 4"
    )
    often = replace(curve(8.0, 4.4, 4.0, scatter=0.12), repeated="3 runs")
    assert [point.threads for point in often.alike] == [2, 4]
    assert "up to 12.0% count as none (times of one count differed by up to 12.0% over 3 runs)" in (
        often.on_noise
    )


def test_noise_of_a_simulated_curve_is_what_the_seed_changes(trace: Path) -> None:
    found = curve_of_trace(SPEC, trace, None, (8,), threads=8)
    (point,) = found.points
    cpus = get_affinity(SPEC.topology, 8, SPREAD).cpus
    times_ns = sorted(
        simulate_trace(SPEC, trace, Seats(cpus=cpus), threads=8, seed=seed).roi_ns
        for seed in range(3)
    )
    assert found.repeated == "3 seeds of page colours and scheduler"
    assert point.scatter == (times_ns[2] - times_ns[0]) / times_ns[1]


def test_speeds_are_over_that_of_the_first_count() -> None:
    found = curve(8.0, 4.0)
    assert [found.speed(point.time_s) for point in found.points] == [1.0, 2.0]


def test_the_usual_counts_are_a_quarter_half_and_all_of_the_cores_and_all_cpus() -> None:
    assert usual_counts(SIBLINGS) == (2, 4, 8, 16)
    assert usual_counts(machine(cores=2)) == (1, 2)
    half = SIBLINGS.restricted(frozenset(sorted(SIBLINGS.allowed)[:8]))
    assert usual_counts(half) == (1, 2, 4, 8)
    assert checked_counts((8, 2, 8), SIBLINGS) == (2, 8)
    with pytest.raises(UsageError, match=r"got 17 .* 16 CPUs may be used"):
        checked_counts((17, 2), SIBLINGS)


def test_siblings_are_as_many_cpus_on_half_the_cores() -> None:
    cpus = siblings_of(SIBLINGS, 6, PACKED)
    assert len(set(cpus)) == 6
    assert len({SIBLINGS.by_os_index[cpu].core for cpu in cpus}) == 3
    assert siblings_of(machine(cores=8), 6, PACKED) == ()
    assert siblings_of(SIBLINGS, 1, PACKED) == ()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight threads, each of which reads pages of its own."""
    return Path(kept(own_pages(8, 8, 40), tmp_path_factory.mktemp("trace") / "own"))


def test_a_captured_program_keeps_its_threads_and_gets_more_and_more_cpus(trace: Path) -> None:
    packing = RulePolicy(("instructions",), {}, (), PACKED)
    found = curve_of_trace(SPEC, trace, packing, threads=8)
    assert found.counted == "CPUs"
    assert [(point.cpus, point.cores) for point in found.points] == [(2, 2), (4, 4), (8, 4), (8, 8)]
    assert {point.threads for point in found.points} == {8}
    assert {point.hint for point in found.points} == {PACKED}
    times_s = [point.time_s for point in found.points]
    assert times_s[0] > 1.5 * times_s[1] > 1.5 * times_s[3]
    assert times_s[2] > times_s[3], "siblings share what a core has"
    for point in found.points:
        assert math.isnan(point.best_s) or point.best_s <= point.time_s
        assert point.read_gbs is not None and point.read_gbs > 0
    assert found.notes == ()


def test_counts_of_a_trace_are_as_wanted_and_no_more_than_it_has_threads(trace: Path) -> None:
    found = curve_of_trace(SPEC, trace, None, (16, 3), threads=8)
    assert [point.cpus for point in found.points] == [3]
    assert found.points[0].hint == SPREAD
    assert "no policy was asked" in found.notes[0]
    with pytest.raises(UsageError, match="expected counts of CPUs up to 8"):
        curve_of_trace(SPEC, trace, None, (16,), threads=8)


def test_threads_of_a_sampled_trace_cannot_share_cpus(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curve_simulated, "is_sampled", lambda path: True)
    with pytest.raises(CapabilityError, match="captured with --whole, or --program"):
        curve_of_trace(SPEC, trace, None, (2,), threads=8)


def faked(  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch,
    ends: Mapping[int, Sequence[tuple[int, float]]],
    computing: int | None = None,
):
    """Runs that end with these exit codes after such times, by thread count; what was run.
    Threads that compute in each: `computing`, or as many as asked for.
    """
    left = {count: list(each) for count, each in ends.items()}
    started = []

    def run_counted(
        argv: Sequence[str],
        environment: Mapping[str, str],
        counters: Mapping[str, Encoding],
        *,
        to_stderr: bool,
    ) -> CountedRun:
        count = int(environment["OMP_NUM_THREADS"])
        code, elapsed_s = left[count].pop(0)
        with BehaviourDB.open(Path(argv[argv.index("--db") + 1])) as database:
            run = database.begin_run("app", "/app", 1, "software events")
            hint, bound = (PACKED, count) if count > 1 else (None, 0)
            database.update_run(run, hint=hint, bound=bound, threads=computing or count, ended=True)
        started.append((list(argv[argv.index("-t") :]), to_stderr))
        counts = {"llc_misses": count * 12_000_000, OTHER_LLC: count * 2_000_000}
        return CountedRun(code, elapsed_s, counts)

    monkeypatch.setattr(here, "run_counted", run_counted)
    monkeypatch.setattr(here, "read_sysfs", lambda root: SIBLINGS)
    return started


def test_a_program_is_run_under_run_once_a_count_and_told_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = faked(monkeypatch, {1: [(0, 4.0)], 4: [(0, 1.0)]})
    found = here.curve_here(["app", "-n{threads}", "{threads}"], (4, 1), policy="p.json")
    assert found.exit_code == 0 and found.failed_at is None and found.curve is not None
    assert [words for words, _ in started] == [
        ["-t", "1", "--policy", "p.json", "--", "app", "-n1", "1"],
        ["-t", "4", "--policy", "p.json", "--", "app", "-n4", "4"],
    ]
    one, four = found.curve.points
    assert (one.time_s, one.hint, one.scatter) == (4.0, None, None)
    assert (four.time_s, four.hint) == (1.0, PACKED)
    assert four.read_gbs == pytest.approx(4 * 10_000_000 * 64 / 1e9)
    assert any(note.endswith("left where the system put them: at 1") for note in found.curve.notes)


def test_a_program_that_keeps_its_own_number_of_threads_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faked(monkeypatch, {1: [(0, 1.0)], 2: [(0, 1.1)], 4: [(0, 1.0)]}, computing=2)
    curve = here.curve_here(["app", "2"], (1, 2, 4)).curve
    assert curve is not None
    (note,) = (note for note in curve.notes if "other numbers" in note)
    assert "than asked for: 2 at 1, 2 at 4; the number reaches the program as {threads}" in note
    faked(monkeypatch, {1: [(0, 1.0)], 4: [(0, 1.0)]})
    curve = here.curve_here(["app", "{threads}"], (1, 4)).curve
    assert curve is not None and not any("other numbers" in note for note in curve.notes)


def test_repeated_runs_are_told_by_their_median_and_scatter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faked(monkeypatch, {2: [(0, 1.0), (0, 1.2), (0, 0.9)]})
    found = here.curve_here(["app"], (2,), repeats=3)
    assert found.curve is not None
    (point,) = found.curve.points
    assert point.time_s == 1.0
    assert point.scatter == pytest.approx(0.3)
    assert found.curve.repeated == "3 runs"


def test_a_run_that_fails_ends_the_curve_and_what_was_known_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = faked(monkeypatch, {1: [(0, 1.0)], 2: [(3, 0.1)], 4: [(0, 1.0)]})
    found = here.curve_here(["app"], (1, 2, 4), to_stderr=True)
    assert (found.exit_code, found.failed_at) == (3, 2)
    assert found.curve is not None and [p.threads for p in found.curve.points] == [1]
    assert [to_stderr for _, to_stderr in started] == [True, True]
    faked(monkeypatch, {1: [(9, 0.1)]})
    assert here.curve_here(["app"], (1,)) == here.CurveHere(None, 9, 1)
    with pytest.raises(UsageError, match="16 CPUs may be used"):
        here.curve_here(["app"], (17,))
