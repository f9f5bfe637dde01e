"""Summary of a comparison: each mechanism against the operating system and against the oracle.

Seeds of a program are averaged first (arithmetic means of times and counts), then programs by
geometric mean of ratios. Intervals are percentiles over random samples, with replacement, of
programs and, within each program, of its seeds (Efron & Tibshirani 1993, section 8.5): cases of one
program are correlated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autofinity.evaluation.bootstrap import DRAWS, FEWEST, LEVEL
from autofinity.evaluation.comparison import MechanismCase
from autofinity.mechanisms.registry import BASELINE, ORACLE
from autofinity.model.mechanism_run import MechanismRun

type _Figures = npt.NDArray[np.float64]
type _Pair = tuple[_Figures, _Figures]
"""A figure of each run of one program, above and below a fraction line."""
type _Runs = Mapping[str, Sequence[MechanismRun]]
"""Runs by program."""

FIGURES: Mapping[str, Callable[[MechanismRun], float]] = {
    "time": lambda run: run.time_s,
    "llc_misses": lambda run: run.llc_misses,
    "mpki": lambda run: run.mpki,
    "l2_mpki": lambda run: run.l2_mpki,
    "traffic": lambda run: run.traffic_bytes,
    "cache_to_cache": lambda run: run.cache_to_cache_transfers,
    "invalidations": lambda run: run.invalidations,
    "energy": lambda run: run.energy_j,
    "processor_energy": lambda run: run.processor_energy_j,
    "dram_energy": lambda run: run.dram_energy_j,
    "energy_per_instruction": lambda run: run.energy_per_instruction_nj,
}
"""Figures that are compared with the operating system's, as a ratio: smaller is better."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A geometric mean over programs, and its interval at `bootstrap.LEVEL`: NaN where there are
    fewer than `bootstrap.FEWEST` programs.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MechanismSummary:
    """One mechanism over all programs that it and the operating system ran."""

    programs: int
    vs_os: Mapping[str, Ratio]
    """Ratio of each of `FIGURES`; NaN where a count is 0."""
    of_oracle: Ratio
    """Time of `oracle` divided by the mechanism's time: 1 is as fast as the best static placement
    known."""
    overhead: Mapping[str, float]
    """Mean share of the threads' time, by kind."""
    transactions_added: float
    """Mean of accesses to memory that detecting made over those of the program."""
    thread_migrations: float
    mappings_changed: float
    page_migrations: float


def summarise(cases: Sequence[MechanismCase], seed: int = 1) -> dict[str, MechanismSummary]:
    """Summary of each mechanism that has cases, in the order of the cases."""
    runs: dict[str, dict[str, list[MechanismRun]]] = {}
    for case in cases:
        if case.run is not None:
            runs.setdefault(case.mechanism, {}).setdefault(case.program, []).append(case.run)
    os, oracle = runs.get(BASELINE, {}), runs.get(ORACLE, {})
    found = {}
    for mechanism, own in runs.items():
        everything = [run for of_program in own.values() for run in of_program]
        found[mechanism] = MechanismSummary(
            programs=len(own.keys() & os.keys()),
            vs_os={name: _ratio(_pairs(own, os, figure), seed) for name, figure in FIGURES.items()},
            of_oracle=_ratio(_pairs(oracle, own, FIGURES["time"]), seed),
            overhead=_by_kind(everything),
            transactions_added=float(np.mean([run.transactions_added for run in everything])),
            mappings_changed=float(np.mean([run.mappings_changed for run in everything])),
            thread_migrations=float(np.mean([run.thread_migrations for run in everything])),
            page_migrations=float(np.mean([run.page_migrations for run in everything])),
        )
    return found


def _by_kind(runs: Sequence[MechanismRun]) -> dict[str, float]:
    kinds = dict.fromkeys(kind for run in runs for kind in run.overhead_ns)
    return {kind: float(np.mean([run.overhead_of(kind) for run in runs])) for kind in kinds}


def _pairs(above: _Runs, below: _Runs, figure: Callable[[MechanismRun], float]) -> list[_Pair]:
    """Values of a figure over the runs of each program that both sides have."""
    return [(_of(above[name], figure), _of(below[name], figure)) for name in above if name in below]


def _of(runs: Sequence[MechanismRun], figure: Callable[[MechanismRun], float]) -> _Figures:
    return np.array([figure(run) for run in runs], dtype=np.float64)


def _ratio(pairs: Sequence[_Pair], seed: int) -> Ratio:
    value = _geometric_mean([_quotient(a.mean(), b.mean()) for a, b in pairs])
    if math.isnan(value) or len(pairs) < FEWEST:
        return Ratio(value, low=math.nan, high=math.nan)
    draw = np.random.default_rng(seed)
    with np.errstate(divide="ignore", invalid="ignore"):  # seeds with a count of 0
        logs = np.log([_means(a, draw) / _means(b, draw) for a, b in pairs])
        chosen = draw.integers(len(pairs), size=(DRAWS, len(pairs)))
        drawn = np.exp(logs[chosen, np.arange(DRAWS)[:, None]].mean(axis=1))
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Ratio(value, float(low), float(high))


def _means(values: _Figures, draw: np.random.Generator) -> _Figures:
    """Means of random samples of the values, with replacement, `DRAWS` times."""
    chosen = draw.integers(len(values), size=(DRAWS, len(values)))
    means: _Figures = values[chosen].mean(axis=1)
    return means


def _quotient(above: float, below: float) -> float:
    return above / below if below else math.nan


def _geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean; NaN where there is no ratio, or one that is not above 0."""
    if not ratios or not all(ratio > 0 for ratio in ratios):
        return math.nan
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
