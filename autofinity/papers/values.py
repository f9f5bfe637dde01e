"""Results of runs: values of a quantity by mechanism and program, and their means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from autofinity.evaluation.comparison import MechanismCase
from autofinity.evaluation.comparison_summary import FIGURES
from autofinity.evaluation.times import geometric_mean
from autofinity.mechanisms.registry import BASELINE
from autofinity.model.mechanism_run import MechanismRun

type Values = dict[str, dict[str, float]]
"""By mechanism and program."""

AS_THEY_ARE: Mapping[str, Callable[[MechanismRun], float]] = {
    "overhead": lambda run: 100 * run.overhead,
    "cpu_time": lambda run: 100 * run.overhead * run.threads,
    "tlb_miss_rate": lambda run: 100 * run.tlb_miss_rate,
    "transactions_added": lambda run: 100 * run.transactions_added,
    "mappings_changed": lambda run: run.mappings_changed,
}
"""Quantities that a chart shows as they are; those of `FIGURES` are ratios to the OS's."""

LABELS: Mapping[str, str] = {
    "time": "time / time under the OS",
    "llc_misses": "LLC misses / those under the OS",
    "mpki": "LLC MPKI / that under the OS",
    "l2_mpki": "L2 MPKI / that under the OS",
    "traffic": "interconnect traffic / that under the OS",
    "cache_to_cache": "cache-to-cache transfers / those under the OS",
    "energy": "energy / that under the OS",
    "processor_energy": "processor energy / that under the OS",
    "dram_energy": "DRAM energy / that under the OS",
    "energy_per_instruction": "energy an instruction / that under the OS",
    "overhead": "% of the threads' time",
    "cpu_time": "CPU time in % of the run's time",
    "tlb_miss_rate": "% of the translations that no TLB had",
    "transactions_added": "accesses to memory added, % of the program's",
    "mappings_changed": "how often threads were put elsewhere",
}


def values(cases: Sequence[MechanismCase], quantity: str, baseline: str = BASELINE) -> Values:
    """Means over seeds: of `FIGURES` against the baseline's, of `AS_THEY_ARE` as they are.

    NaN where the baseline's is 0.
    """
    if quantity in AS_THEY_ARE:
        return absolute(cases, AS_THEY_ARE[quantity])
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


def times_s(cases: Sequence[MechanismCase]) -> Values:
    """Seconds of the runs."""
    return absolute(cases, FIGURES["time"])


def mean(own: Mapping[str, float], quantity: str) -> float:
    """Over programs: geometric of ratios, otherwise arithmetic; NaN where there is none."""
    known = [value for value in own.values() if not math.isnan(value)]
    if not known or (quantity in FIGURES and min(known) <= 0):
        return math.nan
    return fmean(known) if quantity in AS_THEY_ARE else geometric_mean(known)
