"""What runs say to a study of the papers: values by mechanism and program, and their means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from autofinity.evaluation.comparison import MechanismCase
from autofinity.evaluation.comparison_summary import FIGURES
from autofinity.evaluation.paper_studies import SHARES
from autofinity.evaluation.times import geometric_mean
from autofinity.mechanisms.registry import BASELINE
from autofinity.model.mechanism_run import MechanismRun

type Values = dict[str, dict[str, float]]
"""By mechanism and program."""


def values(cases: Sequence[MechanismCase], quantity: str, baseline: str = BASELINE) -> Values:
    """Means over seeds: of `FIGURES` against the baseline's, of `SHARES` as they are.

    NaN where the baseline's is 0.
    """
    if quantity in SHARES:
        return absolute(cases, SHARES[quantity])
    found = absolute(cases, FIGURES[quantity])
    base = found.get(baseline, {})
    return {
        mechanism: {
            program: value / base[program] if base.get(program) else math.nan
            for program, value in own.items()
        }
        for mechanism, own in found.items()
    }


def absolute(cases: Sequence[MechanismCase], figure: Callable[[MechanismRun], float]) -> Values:
    """Means over seeds of a quantity of each run."""
    runs: dict[str, dict[str, list[float]]] = {}
    for case in cases:
        if case.run is not None:
            of_mechanism = runs.setdefault(case.mechanism, {})
            of_mechanism.setdefault(case.program, []).append(figure(case.run))
    return {
        mechanism: {program: fmean(each) for program, each in own.items()}
        for mechanism, own in runs.items()
    }


def mean(own: Mapping[str, float], quantity: str) -> float:
    """Over programs: geometric of ratios, arithmetic of shares; NaN where there is none."""
    known = [value for value in own.values() if not math.isnan(value)]
    if not known or (quantity in FIGURES and min(known) <= 0):
        return math.nan
    return fmean(known) if quantity in SHARES else geometric_mean(known)


def shares_by_kind(cases: Sequence[MechanismCase], mechanism: str) -> dict[str, float]:
    """% of the threads' time of each kind of overhead, over all runs of a mechanism."""
    runs = [case.run for case in cases if case.mechanism == mechanism and case.run is not None]
    kinds = dict.fromkeys(kind for run in runs for kind in run.overhead_ns)
    return {kind: 100 * fmean(run.overhead_of(kind) for run in runs) for kind in kinds}


COUNTED: Mapping[str, Callable[[MechanismRun], int]] = {
    "page copy": lambda run: run.page_migrations,
    "thread migration": lambda run: run.thread_migrations,
}
"""Kinds of overhead whose operations a run counts."""


def ns_by_kind(cases: Sequence[MechanismCase], mechanism: str) -> dict[str, float]:
    """Time of one operation of each kind that is counted; NaN where there was none."""
    runs = [case.run for case in cases if case.mechanism == mechanism and case.run is not None]
    found = {}
    for kind, count in COUNTED.items():
        operations = sum(map(count, runs))
        spent = sum(run.overhead_ns.get(kind, 0) for run in runs)
        found[kind] = spent / operations if operations else math.nan
    return found
