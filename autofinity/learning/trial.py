"""When a trial of one more hint pays after a second look: bounds of the speedup between the looks.

    workload ─► speedup of the second look, answer, loss with and without a trial ─► bounds

A trial finds the better of two placements, so it loses no more than the answer, except for its
cost. Where one of the two looks was much faster, a placement between them is worse than the faster
one, and the cost is lost. The bounds are those of the stretch of speedups with the largest gain.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from autofinity.learning.hint_losses import TIE, workload_weights
from autofinity.learning.second_look import Seen
from autofinity.learning.settings import Probe
from autofinity.model.affinity import HINTS, Hint
from autofinity.model.policy import RulePolicy, Trial
from autofinity.model.ratios import SPEED_GAIN, SPEEDUP
from autofinity.policy.many import hints

type Floats = npt.NDArray[np.float64]

COST = 0.003
"""Loss of a trial, as a share of the time: what looks may cost of a minute (`runtime.looking`)."""


def with_trial(policy: RulePolicy, seen: Seen, losses: Floats, hint: Probe) -> RulePolicy:
    """`policy` with a trial of `hint`, if it has a second look, counts instructions, and a trial
    gains anything.

    `seen` are the samples of the second look, `losses` those of `hint_losses.hint_losses`. Samples
    without a known loss or speedup are left out.
    """
    if policy.second is None or hint in ("none", str(policy.second.sampled_in)):
        return policy
    if not set(SPEEDUP.numerator) <= set(policy.counters):
        return policy
    tried = Hint.from_letters(hint)
    speedups = seen.features.counters[SPEED_GAIN]
    gains = workload_weights(seen.workload) * _gains(policy.second.policy, seen, losses, tried)
    known = np.flatnonzero(np.isfinite(speedups) & np.isfinite(gains))
    order = known[np.argsort(speedups[known], kind="stable")]
    first, last = _best_stretch(gains[order])
    if first == last:
        return policy
    ascending = speedups[order]
    above = _between(ascending[first - 1], ascending[first]) if first else 0.0
    upto = _between(*ascending[last - 1 : last + 1]) if last < len(order) else ascending[-1]
    return replace(policy, trial=Trial(tried, above, float(upto), 1 + TIE))


def _between(low: float, high: float) -> float:
    return math.sqrt(low * high)


def _gains(rules: RulePolicy, seen: Seen, losses: Floats, hint: Hint) -> Floats:
    """Share of each sample's time that a trial gains, less its cost; NaN where that is not known.

    A trial in the affinity of the answer does not take place.
    """
    lost = losses[seen.workload, hints(rules, seen.features.counters, len(seen.workload))]
    tried = losses[seen.workload, HINTS.index(hint)]
    cost = np.where(lost == tried, 0.0, COST)
    gained: Floats = lost - np.minimum(lost, tried) - cost
    return gained


def _best_stretch(gains: Floats) -> tuple[int, int]:
    """First index, and the index after the last, of the stretch with the largest sum; equal where
    no sum is above 0 (Bentley 1984, Programming Pearls, column 8).
    """
    best, found, total, first = 0.0, (0, 0), 0.0, 0
    for index, gain in enumerate(gains.tolist()):
        if total <= 0:
            total, first = 0.0, index
        total += gain
        if total > best:
            best, found = total, (first, index + 1)
    return found
