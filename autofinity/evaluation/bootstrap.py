"""Confidence of a summary: random samples of the programs, with replacement.

Cases of one program at several thread counts are correlated, so whole programs are sampled, not
cases (Efron & Tibshirani 1993, section 8.5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from autofinity.evaluation.cases import Case

DRAWS = 1000
LEVEL = 0.95
FEWEST = 3
"""Programs, for an interval: samples of fewer are the same few values again."""
TOO_FEW = f"no interval: fewer than {FEWEST} programs"


def intervals(
    cases: Sequence[Case],
    figures: Callable[[Sequence[Case]], Mapping[str, float]],
    seed: int = 1,
) -> dict[str, tuple[float, float]]:
    """Percentile intervals at `LEVEL` of each figure that `figures` makes of cases.

    A sample in which a figure is NaN (no interesting case in it) does not count for that figure; a
    figure that is NaN in all samples has no interval. No figure of fewer than `FEWEST` programs has
    an interval.
    """
    by_program: dict[str, list[Case]] = {}
    for case in cases:
        by_program.setdefault(case.workload.program, []).append(case)
    if len(by_program) < FEWEST:
        return {}
    groups = list(by_program.values())
    draw = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {}
    for chosen in draw.integers(len(groups), size=(DRAWS, len(groups))):
        for name, value in figures([case for i in chosen for case in groups[i]]).items():
            if not np.isnan(value):
                drawn.setdefault(name, []).append(value)
    edges = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    found = {name: np.quantile(values, edges) for name, values in drawn.items()}
    return {name: (float(low), float(high)) for name, (low, high) in found.items()}
