"""A policy of two looks: packed where that was faster, else spread."""

from __future__ import annotations

import math

from autofinity.model.affinity import HINTS, PACKED, SPREAD, Hint
from autofinity.model.policy import Condition, Rule, RulePolicy, SecondLook, looked_at
from autofinity.model.ratios import SPEED_GAIN, SPEEDUP

BETWEEN = Hint.parse("sLP")


def two_looks(sampled_in: Hint = PACKED) -> RulePolicy:
    """The policy, with the hint of its second look; it counts instructions alone."""
    again = RulePolicy(
        looked_at(("instructions",)),
        {SPEED_GAIN: (1.0,)},
        (Rule((Condition(SPEED_GAIN, 1.0, math.inf),), PACKED),),
        SPREAD,
        ratios=(SPEEDUP,),
    )
    second = SecondLook(sampled_in, HINTS, again)
    return RulePolicy(("instructions",), {}, (), SPREAD, second=second)
