"""Complete verdict on cases: the best possible result, the result, its confidence, and its cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.evaluation.bootstrap import intervals
from autofinity.evaluation.cases import Case, Summary, summarise


@dataclass(frozen=True, slots=True)
class Verdict:
    """Summaries of the same cases, each with another column in place of the policy's."""

    hints: Summary
    """Best possible result of the eight hints: the best hint in every case."""
    restart: Summary
    """Restart in the hint chosen from the mean of a whole spread run."""
    one_period: Summary | None
    """Restart in the hint chosen from one sample period; None where periods are missing."""
    in_run: Summary | None
    """Sampled and switched during the run, all costs charged; None where no case is known."""
    in_run_missing: tuple[Case, ...]
    """Cases without an in-run time: no switched run was made for cases that are to move. Cases that
    do not move are always known, so the other cases have too little weight."""
    energy: Summary | None
    """Result of a restart in joules; None where energy was not measured."""
    confidence: Mapping[str, tuple[float, float]]
    """95 % intervals of the figures of `restart`, by bootstrap over programs."""


def verdict_of(cases: Sequence[Case]) -> Verdict:
    """Judge the cases in every way that their data permit."""
    one_period = [case.by("one_period") for case in cases if "one_period" in case.roi_s]
    in_run = [case.by("in_run") for case in cases if "in_run" in case.roi_s]
    missing = tuple(case for case in cases if "in_run" not in case.roi_s)
    energy = [case.in_energy() for case in cases if case.energy_j]
    return Verdict(
        hints=summarise([case.by("best_hint") for case in cases]),
        restart=summarise(cases),
        one_period=summarise(one_period) if one_period else None,
        in_run=summarise(in_run) if in_run else None,
        in_run_missing=missing,
        energy=summarise(energy) if energy else None,
        confidence=intervals(cases, lambda some: figures(summarise(some))),
    )


def figures(summary: Summary) -> dict[str, float]:
    """The numbers of a summary that need an interval, by their names in JSON."""
    ratios = {f"{column}_ratio": value for column, value in summary.ratios.items()}
    won = summary.wins / summary.interesting if summary.interesting else math.nan
    return {
        "win_share": won,
        **ratios,
        "regret_median": summary.regret_median,
        "regret_max": summary.regret_max,
        "worst_vs_os": summary.worst_vs_os,
        "hint_accuracy": summary.hint_accuracy,
    }
