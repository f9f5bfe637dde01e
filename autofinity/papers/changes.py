"""Changes in percent, as papers give them, turned into ratios to what was before."""

from __future__ import annotations

from math import prod


def faster(percent: float) -> float:
    """A performance improvement as a ratio of times."""
    return 1 / (1 + percent / 100)


def less(percent: float) -> float:
    """A reduction as a ratio."""
    return 1 - percent / 100


def mean_change(*percents: float) -> float:
    """Geometric mean of changes, as a ratio."""
    return prod(1 + percent / 100 for percent in percents) ** (1 / len(percents))
