"""Where windows do not stand for a program, replays say so, and what to do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autofinity.cli.simulate_one import show
from autofinity.sim.doubtful import remedy
from autofinity.sim.events import EVENTS
from autofinity.sim.machine import SimMachine
from autofinity.sim.preset import load_preset
from autofinity.sim.result import SimResult
from autofinity.sim.window_sum import Misfits, RegionCourse, RegionEstimate

MACHINE = "opteron-6164he"


def result(error: float) -> SimResult:
    """Two equal stretches whose time and counts are all off by this error; 0: a whole replay."""
    counts = np.full((1, 1, len(EVENTS)), 1000, dtype=np.uint64)
    times = np.array([[0, 1000]], dtype=np.uint64)
    off = 1000 * error
    misfits = Misfits(np.full(2, off), np.full((2, len(EVENTS)), off)) if error else Misfits.none()
    return SimResult(1000, counts[0], counts, times, np.ones(1), (0,), (0,), 2e9, error, misfits)


def estimate(error: float) -> RegionEstimate:
    nothing, one = np.zeros((1, 1)), np.ones(1)
    course = RegionCourse(np.zeros(1, dtype=np.intp), one, one)
    return RegionEstimate(
        1000.0, error, (0,), one, np.ones((1, 1, 1)), one, nothing, np.zeros(1), course
    )


def test_an_error_above_a_tenth_has_a_remedy_and_a_smaller_one_has_none() -> None:
    assert "--whole" in (remedy(0.29) or "")
    assert remedy(0.1) is None
    assert remedy(float("nan")) is None


def test_simulate_prints_what_to_do_where_windows_do_not_stand_for_the_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for error, lines in ((0.29, 1), (0.02, 0)):
        show(Path("mergesort-memory-8t"), load_preset(MACHINE), result(error), False, False)
        assert capsys.readouterr().out.count("captured whole") == lines


def test_counts_and_energy_of_windows_have_errors_and_those_of_a_whole_replay_have_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spec = load_preset(MACHINE)
    for error in (0.0, 0.02):
        show(Path("scan-memory-8t"), spec, result(error), False, True)
        found = json.loads(capsys.readouterr().out)
        assert set(found["errors"]) == set(EVENTS)
        assert [found["errors"]["llc_misses"], found["energy_error"]] == pytest.approx([error] * 2)
        show(Path("scan-memory-8t"), spec, result(error), False, False)
        assert ("± %" in capsys.readouterr().out) == bool(error)


def test_errors_that_are_not_known_are_no_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    alone = Misfits(np.zeros(1), np.zeros((1, len(EVENTS))))
    one = replace(result(float("nan")), misfits=alone)
    show(Path("scan-memory-8t"), load_preset(MACHINE), one, False, True)
    found = json.loads(capsys.readouterr().out)
    assert found["error"] is found["energy_error"] is found["errors"]["l2_misses"] is None


def test_the_notice_of_an_error_that_was_not_reached_says_what_to_do() -> None:
    told: list[str] = []
    machine = SimMachine(load_preset(MACHINE), notice=told.append)
    machine._tell_error("mergesort-memory-8t", estimate(0.29))
    machine._tell_error("scan-memory-8t", estimate(0.02))
    assert ["captured whole" in line for line in told] == [True, False]
