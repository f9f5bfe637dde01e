"""Whoever calls the workflow from Python with what cannot be gets an error of ours that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from few_observations import FEW_ON

from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import SPREAD
from autofinity.model.errors import LearningError, UsageError
from autofinity.model.sharing import SharingMatrix
from autofinity.sim.machine import SimMachine
from autofinity.sim.preset import load_preset
from autofinity.workflow.backends import machine_topology, simulated
from autofinity.workflow.compare import Asked
from autofinity.workflow.detect import detect, detect_here
from autofinity.workflow.evaluate import evaluate
from autofinity.workflow.map import map_threads
from autofinity.workflow.simulate import simulate_trace
from autofinity.workflow.wanted import Wanted, wanted_on

TRACE = Path("no-trace")


@pytest.fixture
def wanted(tmp_path: Path) -> Wanted:
    return wanted_on(FEW_ON, threads=(4,), work=tmp_path)


def map_(sharing: tuple[tuple[float, ...], ...], algorithm: str = "eagermap") -> None:
    map_threads(SharingMatrix(sharing), machine_topology(FEW_ON), algorithm, SPREAD)


CALLS: dict[str, Callable[[Wanted], object]] = {
    "jobs 0: expected at least 1": lambda wanted: replace(wanted, jobs=0),
    "threads 0: expected at least 1": lambda wanted: replace(wanted, threads=(8, 0)),
    "period_us 0: expected microseconds": lambda wanted: replace(wanted, period_us=0),
    "page size '3K': expected one of 4K": lambda wanted: simulated(FEW_ON, page_size="3K"),
    "threads 4, 8: expected one count": lambda wanted: Asked(
        replace(wanted, threads=(4, 8)), 1, 1, 60
    ),
    "seeds 0, repeats 1": lambda wanted: Asked(wanted, 0, 1, 60),
    "paper_s 0: expected": lambda wanted: Asked(wanted, 1, 1, 0),
    "bins '20': expected a whole number": lambda wanted: LearningSettings(bins="20"),  # type: ignore[arg-type]
    "counters: none is named": lambda wanted: LearningSettings(counters=()),
    "samples -1: expected some": lambda wanted: evaluate(wanted, samples=-1),
    "seed -1: expected a whole number": lambda wanted: simulate_trace(
        load_preset(FEW_ON), TRACE, seed=-1
    ),
    "period_us nan: expected": lambda wanted: simulate_trace(
        load_preset(FEW_ON), TRACE, period_us=float("nan")
    ),
    "unknown detector 'eyes'": lambda wanted: detect(
        SimMachine(load_preset(FEW_ON)), TRACE, "eyes"
    ),
    "no program to run": lambda wanted: detect_here([], arm=False, to_stderr=False),
    "unknown mapper 'nearest'": lambda wanted: map_(((0.0, 1.0), (1.0, 0.0)), "nearest"),
    "as many columns as rows": lambda wanted: map_(((0.0, 1.0), (1.0,))),
}


@pytest.mark.parametrize("said", CALLS)
def test_what_cannot_be_is_said(wanted: Wanted, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        CALLS[said](wanted)
    assert said in str(caught.value)


def test_programs_and_thread_counts_that_were_not_observed_are_named(
    wanted: Wanted, observations: Path
) -> None:
    with pytest.raises(LearningError, match="no observations of sor; it has those of cg, lu"):
        evaluate(replace(wanted, programs=("lu", "sor")), observations=observations)
    with pytest.raises(LearningError, match="no observation with 99 threads; there are 8"):
        evaluate(replace(wanted, threads=()), observations=observations, train_threads=(99,))
