"""A trial of one more hint after the second look, where it pays.

A trial finds the better of two placements: it loses nothing but the time that it takes, and that is
bounded by what all looks of a run may cost (`runtime.looking`). So it is not restricted to programs
like those of the training set: kernels that nothing was learned from are faster with a trial where
no training program is (docs/any-machine.md).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from autofinity.learning.hint_losses import TIE
from autofinity.learning.second_look import Seen
from autofinity.learning.settings import Probe
from autofinity.model.affinity import HINTS, Hint
from autofinity.model.policy import RulePolicy, Trial
from autofinity.model.ratios import SPEEDUP
from autofinity.policy.many import hints

type Floats = npt.NDArray[np.float64]


def with_trial(policy: RulePolicy, seen: Seen, losses: Floats, hint: Probe) -> RulePolicy:
    """`policy` with a trial of `hint`, if it has a second look, counts instructions, and the hint
    is better than the answer of the second look in any workload.

    `seen` are the samples of the second look, `losses` those of `hint_losses.hint_losses`. Samples
    without a known loss are left out.
    """
    if policy.second is None or hint in ("none", str(policy.second.sampled_in)):
        return policy
    if not set(SPEEDUP.numerator) <= set(policy.counters):
        return policy
    tried = Hint.from_letters(hint)
    answers = hints(policy.second.policy, seen.features.counters, len(seen.workload))
    gains = losses[seen.workload, answers] - losses[seen.workload, HINTS.index(tried)]
    return replace(policy, trial=Trial(tried, 1 + TIE)) if (gains > 0).any() else policy
