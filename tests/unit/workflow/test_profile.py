"""From a suite to observations: what is made, what is there already, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from told import Told

from autofinity.capture.suite_capture import capture_suite
from autofinity.model.errors import LearningError, UsageError
from autofinity.resources import shipped
from autofinity.store.observations import read
from autofinity.trace.manifest import Suite, load_suite
from autofinity.workflow import planned_runs
from autofinity.workflow.capture import capture
from autofinity.workflow.evaluate import evaluate
from autofinity.workflow.profile import cost_text, estimate, gather, keep, long_work_text
from autofinity.workflow.wanted import Wanted, observations_folder


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(shipped("training", "suite.toml"))


@pytest.fixture
def wanted(suite: Suite, captured: Path, tmp_path: Path) -> Wanted:
    """One program that is captured already, and a folder of its own for what it shows."""
    (tmp_path / "traces").symlink_to(captured)
    return Wanted("xeon-e5-2650", suite, ("keysearch",), ("tiny",), (2,), jobs=2, work=tmp_path)


@pytest.fixture(scope="module")
def captured(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    traces = tmp_path_factory.mktemp("traces")
    capture_suite(suite, ["keysearch"], 2, "tiny", traces)
    return traces


def test_runs_are_made_once_and_found_the_next_time(wanted: Wanted) -> None:
    first, again = Told(), Told()
    table = gather(wanted, first)
    assert table.programs() == ("keysearch",)
    assert any(observations_folder(wanted).glob("*.parquet"))
    assert [title for title, _ in first.work] == ["capture 2t", "estimate", "profile"]
    assert gather(wanted, again).digest() == table.digest()
    assert set(again.done[1:]) == {"found"}
    assert estimate(wanted) == {}


def test_runs_of_another_simulator_are_made_again_and_this_is_said(
    wanted: Wanted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> dict[str, int]:
        found = observations_folder(wanted).glob("*.parquet")
        return {path.name: path.stat().st_mtime_ns for path in found}

    gather(wanted)
    before = made()
    monkeypatch.setattr(planned_runs, "digest_of_code", lambda *parts: b"edited")
    told = Told()
    gather(wanted, told)
    assert made().keys() == before.keys()
    assert all(made()[name] > before[name] for name in before)
    assert told.notices[0].startswith(f"{len(before)} kept files of runs are of other programs")


def test_what_it_will_cost_is_said_first(wanted: Wanted) -> None:
    told = Told()
    gather(replace(wanted, affinities="all", page_seeds=2), told)
    (notice,) = told.notices
    assert notice.startswith("xeon-e5-2650, 2 threads: up to ")
    assert notice.endswith("CPU minutes")


def test_programs_that_cannot_be_captured_are_left_out_and_named(wanted: Wanted) -> None:
    suite = wanted.suite
    larger = replace(suite.programs["fft"], inputs={"large": ""})
    suite = replace(suite, programs={**suite.programs, "fft": larger})
    told = Told()
    ready = capture(replace(wanted, suite=suite, programs=("keysearch", "fft")), 2, told)
    assert [program.name for program in ready] == ["keysearch"]
    assert told.notices == ["fft is left out: has no input of size 'tiny' (known: large)"]


def test_a_kept_file_has_what_was_gathered_or_only_the_best_matches_periods(
    wanted: Wanted, tmp_path: Path
) -> None:
    table = gather(replace(wanted, period_us=20, affinities="all", baselines=True))
    whole = keep(table, tmp_path / "whole.parquet", machine=wanted.machine)
    thin = keep(table, tmp_path / "thin.parquet", machine=wanted.machine, thin=[2])
    assert whole.digest() == table.digest() == read(tmp_path / "whole.parquet").digest()
    assert 0 < len(thin) < len(whole)


def test_more_than_an_hour_of_work_is_announced_with_what_makes_it_less() -> None:
    assert long_work_text(3600.0 * 2, jobs=2) is None
    said = long_work_text(1700 * 60.0, jobs=4)
    assert said is not None
    assert said.startswith("about 7.1 hours of profiling begin now (28.3 CPU hours, 4 at a time)")
    assert "an interrupted command resumes" in said


def test_no_hours_are_made_up_where_no_run_was_tried_beforehand() -> None:
    unknown = float("nan")
    assert long_work_text(unknown, jobs=2) is None
    assert cost_text(3, unknown) == "up to 3 more runs, of unknown length"
    assert cost_text(3, 90.0) == "up to 3 more runs, about 1.5 CPU minutes"


@pytest.mark.parametrize("affinities", ["1", "screen:1"])
def test_fewer_affinities_than_the_hints_have_are_refused_before_any_capture(
    wanted: Wanted, affinities: str
) -> None:
    told = Told()
    few = replace(wanted, affinities=affinities)
    with pytest.raises(UsageError, match=f"--affinities {affinities}: the hints alone have"):
        gather(few, told)
    with pytest.raises(UsageError, match="best matches for 2 threads"):
        evaluate(replace(few, threads=(1,)), train_threads=(2,), reporter=told)
    assert told.work == []


def test_runs_that_fail_for_one_reason_are_one_notice_with_their_number(wanted: Wanted) -> None:
    told = Told()
    with pytest.raises(LearningError, match="all 4 runs failed"):
        gather(replace(wanted, period_us=1e9, page_seeds=2, affinities="hints"), told)
    failed = [notice for notice in told.notices if "runs failed" in notice]
    assert failed == [
        "4 runs failed (keysearch 4): the program ended before one sample period of 1000000.000 ms "
        "was over; use a larger input or a shorter --period"
    ]
