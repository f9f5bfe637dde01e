"""Runs that are set beside the papers' headline figures, and quantities of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TypedDict, Unpack

import numpy as np
from headline_figures import ALTIX, E5, OPTERON, X7550
from minute_mechanisms import Filled, Ground, Minutes

from autofinity.evaluation.bootstrap import DRAWS, FEWEST, LEVEL
from autofinity.evaluation.comparison_summary import FIGURES
from autofinity.evaluation.times import geometric_mean
from autofinity.mechanisms.registry import BASELINE
from autofinity.papers.values import AS_THEY_ARE

BIG = {"adi": "96 1", "ssor": "80 1", "amr": "24 11"}
SMALL = {"adi": "80 1", "ssor": "64 1", "amr": "21 6"}
INPUTS: Mapping[str, Mapping[str, str]] = {
    X7550: BIG,
    OPTERON: BIG,
    E5: BIG,
    ALTIX: SMALL,
}
"""The papers' machines; solvers as NAS's SP, LU and UA, some steps over data that exceed a node's
caches (but for `amr` on the Altix), and mostly not those of all nodes together."""


class Change(TypedDict, total=False):
    """An experiment on a ground."""

    filled: Filled
    faults_per_page: float
    inputs: Mapping[str, str]


class Study:
    """The runs, by ground."""

    def __init__(self, work: Path, *, only_kept: bool) -> None:
        self._work, self._only_kept = work, only_kept
        self._grounds: dict[str, Minutes] = {}

    def on(self, machine: str, **change: Unpack[Change]) -> Minutes:
        """The runs on a machine."""
        key = f"{machine} {change}"
        if key not in self._grounds:
            asked: Change = {"inputs": INPUTS[machine], **change}
            ground = Ground(machine, **asked)
            self._grounds[key] = Minutes(ground, self._work)
        return self._grounds[key]

    def programs(
        self, machine: str, mechanisms: Sequence[str], **change: Unpack[Change]
    ) -> tuple[str, ...]:
        """Those that are run under all of the mechanisms."""
        runs = self.on(machine, **change)
        return tuple(
            name
            for name in runs.ground.inputs
            if not self._only_kept or all(runs.has(name, each) for each in mechanisms)
        )


def quantity_of(runs: Minutes, name: str, mechanism: str, quantity: str) -> float:
    """A quantity of a run, by the operating system's where it is one of `FIGURES`."""
    run = runs.run(name, mechanism)
    if quantity in AS_THEY_ARE:
        return AS_THEY_ARE[quantity](run)
    figure = FIGURES[quantity]
    return figure(run) / figure(runs.run(name, BASELINE))


def met(ours: float, span: tuple[float, float] | None, paper: float) -> str:
    """Whether a quantity that is better if smaller is as in the paper; `span` is its interval."""
    if ours <= paper:
        return "yes"
    return "within the interval" if span is not None and span[0] <= paper else "no"


def mean(found: Sequence[float], ratio: bool) -> float:
    """Over programs: geometric of ratios, else arithmetic."""
    return geometric_mean(list(found)) if ratio else fmean(found)


def interval(found: Sequence[float], ratio: bool, seed: int = 1) -> tuple[float, float] | None:
    """Percentiles of the mean over random samples of the programs, with replacement; None for fewer
    than `FEWEST` programs.
    """
    if len(found) < FEWEST:
        return None
    values = np.log(found) if ratio else np.array(found)
    draw = np.random.default_rng(seed)
    drawn = values[draw.integers(len(values), size=(DRAWS, len(values)))].mean(axis=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return (math.exp(low), math.exp(high)) if ratio else (float(low), float(high))
