"""Description length of a rule set, in bits: what RIPPER weighs rules against.

Source: Cohen 1995, after Quinlan: the conditions of each rule chosen among all possible ones,
halved for redundancy, and the exceptions chosen among the covered and the uncovered rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from autofinity.learning.rule_growth import Data, Literals, covered


def total_length(data: Data, rules: Sequence[Literals]) -> float:
    """Bits of the rules and of what they get wrong on `data`."""
    some = np.zeros(len(data.positive), dtype=bool)
    for literals in rules:
        some |= covered(data, literals)
    right, wrong = data.weights_covered(some)
    missed, passed = data.weights_covered(~some)
    possible = sum(2 * (count - 1) for count in data.bins)
    theory = sum(_rule_length(len(literals), possible) for literals in rules)
    exceptions = _log2_choose(right + wrong, wrong) + _log2_choose(missed + passed, missed)
    return theory + exceptions + math.log2(right + wrong + missed + passed + 1)


def _rule_length(conditions: int, possible: int) -> float:
    """How many conditions, and which, halved since conditions of a rule are not independent."""
    which = 0.0
    for part in (conditions, possible - conditions):
        if part > 0:
            which -= part * math.log2(part / possible)
    return 0.5 * (math.log2(conditions + 1) + which)


def _log2_choose(of: float, chosen: float) -> float:
    """Bits to say which; weights need not be whole."""
    rest = max(of - chosen, 0.0)
    natural = math.lgamma(of + 1) - math.lgamma(chosen + 1) - math.lgamma(rest + 1)
    return max(natural, 0.0) / math.log(2)
