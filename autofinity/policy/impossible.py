"""Shares above 1 in a sample: its counters do not count parts and whole of the same lines.

A wrong event, or counts of different runs or threads, give such shares. An answer from them is no
better than its sample, so whoever shows the answer names them.
"""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.policy import RulePolicy
from autofinity.model.ratios import PARTS
from autofinity.policy.readable import number

_AT_MOST = 1.1
"""More than counters that take turns are off by, or prefetches that only one of two events has."""


def impossible_lines(policy: RulePolicy, sample: Mapping[str, float]) -> list[str]:
    """A line for each share of the policy's that is far above 1 in the sample."""
    return [
        f"{ratio.name} is {number(value)}, and a share is 1 at most: "
        f"{' + '.join(ratio.numerator)} and {' + '.join(ratio.denominator)} are not of the same "
        "lines; check their events"
        for ratio in policy.ratios
        if ratio.name in PARTS and (value := ratio.of(sample)) > _AT_MOST
    ]
