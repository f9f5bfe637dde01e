"""From a suite to observations by way of sampled traces: the same times, nearly, as whole ones."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from told import Told

from autofinity._core.trace import is_sampled
from autofinity.capture import sampling
from autofinity.capture.sampling import WindowPlan
from autofinity.capture.suite_capture import capture_suite
from autofinity.model.affinity import HINTS, PACKED
from autofinity.model.errors import CapabilityError
from autofinity.model.policy import RulePolicy, SecondLook, looked_at
from autofinity.ports import RunRequest, Sensors
from autofinity.sim.machine import SimMachine
from autofinity.sim.result import SimResult
from autofinity.sim.sampled import Precision
from autofinity.sim.window_sum import Misfits
from autofinity.workflow.advice.curve_simulated import curve_of_program
from autofinity.workflow.profile import gather
from autofinity.workflow.simulate import simulate_trace
from autofinity.workflow.wanted import Wanted, wanted_on

THREADS = 4
NEAR = 0.25
"""Relative error: in a region of milliseconds few windows show little."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captured by the first test that needs them; the others go on from there, as users do."""
    return tmp_path_factory.mktemp("traces")


@pytest.fixture
def wanted(traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wanted:
    """A program whose small input is sampled, in windows close to each other."""
    (tmp_path / "traces").symlink_to(traces)
    monkeypatch.setattr(sampling, "WHOLE_SIZES", ())
    monkeypatch.setattr(WindowPlan, "of", lambda threads: WindowPlan(1 << 20, 1 << 18))
    asked = wanted_on("opteron-6164he", programs=("stencil",), sizes=("small",), work=tmp_path)
    return replace(asked, threads=(THREADS,), affinities="hints", baselines=True, period_us=20.0)


def test_observations_of_windows_are_near_those_of_the_whole(wanted: Wanted) -> None:
    told = Told()
    table = gather(wanted, told)
    assert set(table.placement.text()) == {"affinity", "compact", "random"}
    assert any("sampled" in notice for notice in told.notices)
    spec = SimMachine.preset("opteron-6164he").spec
    (meta,) = capture_suite(wanted.suite, ("stencil",), THREADS, "small", wanted.work / "whole")
    whole = simulate_trace(spec, meta.path)
    sampled = simulate_trace(spec, wanted.work / "traces" / meta.path.name, seed=1)
    assert whole.error == 0 < sampled.error
    assert sampled.progress[-1] == pytest.approx(1)
    assert sampled.roi_ns == pytest.approx(whole.roi_ns, rel=NEAR)
    assert sampled.total("instructions") == pytest.approx(whole.total("instructions"), rel=NEAR)
    assert (abs(table.roi_s * 1e9 - sampled.roi_ns) < 2).any()  # the spread affinity's


def test_windows_add_up_to_the_same_result_for_any_number_of_jobs(wanted: Wanted) -> None:
    out = wanted.work / "traces"
    (meta,) = capture_suite(wanted.suite, ("stencil",), THREADS, "small", out, sample="auto")
    spec = SimMachine.preset("opteron-6164he").spec
    found = [
        simulate_trace(spec, meta.path, precision=Precision(error=1e-9, jobs=jobs))
        for jobs in (1, 4)
    ]
    assert len(found[0].samples) > 4
    assert found[0].error_of("l2_misses") > 0 == found[0].error_of("instructions")
    for name in (each.name for each in fields(SimResult) if each.name != "misfits"):
        assert np.array_equal(getattr(found[0], name), getattr(found[1], name)), name
    for name in (each.name for each in fields(Misfits)):
        assert np.array_equal(*(getattr(each.misfits, name) for each in found)), name


def test_of_a_trace_whose_error_is_not_reached_there_is_one_notice(wanted: Wanted) -> None:
    told = Told()
    gather(replace(wanted, baselines=False, error=1e-9), told)
    assert sum("standard error" in notice for notice in told.notices) == 1


def test_a_curve_of_sampled_inputs_is_by_windows(wanted: Wanted) -> None:
    spec = SimMachine.preset("opteron-6164he").spec
    again = RulePolicy(looked_at(("instructions",)), {}, (), PACKED)
    policy = RulePolicy(("instructions",), {}, (), PACKED, second=SecondLook(PACKED, HINTS, again))
    curve = curve_of_program(spec, wanted, policy, (2, THREADS))
    assert is_sampled(str(wanted.work / "traces" / f"stencil-small-{THREADS}t"))
    assert [(p.threads, p.cpus, p.hint) for p in curve.points] == [(2, 2, PACKED), (4, 4, PACKED)]
    assert curve.points[0].time_s > curve.points[1].time_s
    assert all(point.read_gbs for point in curve.points)


def test_a_sampled_trace_is_not_run_where_threads_move(wanted: Wanted) -> None:
    out = wanted.work / "traces"
    (meta,) = capture_suite(wanted.suite, ("stencil",), THREADS, "small", out, sample="auto")
    trace = str(meta.path)
    assert is_sampled(trace)
    machine = SimMachine.preset("opteron-6164he")
    with pytest.raises(CapabilityError, match="--whole"):
        machine.start(RunRequest(program=trace, threads=THREADS), None, Sensors(("cycles",)))
