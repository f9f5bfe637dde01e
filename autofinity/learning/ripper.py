"""RIPPER of our own: rules without Java, and a second opinion on JRip's.

Source: W. Cohen, "Fast Effective Rule Induction" (ICML 1995). Classes are taken from the rarest to
the most frequent, each against all that are left; the most frequent is the default. For one class:
grow a rule on two thirds of the data by information gain, prune it on the last third, keep adding
rules until the description length is 64 bits above the least seen or a rule is wrong more often
than right; then twice reconsider each rule against a replacement and a revision.

Differences from JRip: bins are always ordered numbers, ties go to the first counter and the lowest
edge, and the exceptions of a rule set are coded by binomials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autofinity.learning.bin_rules import BinRule, arrays_of, policy_of
from autofinity.learning.rule_growth import Data, Literals, covered, grow, prune, ranges_of
from autofinity.learning.rule_length import total_length
from autofinity.model.policy import RulePolicy

SURPLUS_BITS = 64.0
"""How far the description length may rise above the least seen (Cohen, section 3.2)."""
PASSES = 2


@dataclass(frozen=True, slots=True)
class RipperLearner:
    """A `ports.Learner` in numpy."""

    name: str = "ripper"

    def learn(
        self,
        counters: Sequence[str],
        cut_points: Mapping[str, tuple[float, ...]],
        rows: Sequence[Sequence[int]],
        labels: Sequence[int],
        weights: Sequence[float],
        seed: int,
    ) -> RulePolicy:
        """Rules class by class, rarest first. Raises `LearningError` for an empty table."""
        table, label, weight = arrays_of(rows, labels, weights)
        draw = np.random.default_rng(seed)
        bins = tuple(len(cut_points[name]) + 1 for name in counters)
        total = np.bincount(label, weights=weight)
        classes = sorted(np.unique(label).tolist(), key=lambda c: (total[c], c))
        left = np.ones(len(label), dtype=bool)
        found: list[BinRule] = []
        for positive in classes[:-1]:
            data = Data(table[left], label[left] == positive, weight[left], bins)
            for literals in _rules_of_one_class(data, draw):
                found.append(BinRule(ranges_of(literals, bins), positive))
            for rule in found:
                left &= ~rule.fires(table)
        default = BinRule({}, classes[-1])
        return policy_of([*found, default], counters, cut_points, table, label, weight)


def _rules_of_one_class(data: Data, draw: np.random.Generator) -> list[Literals]:
    rules = _cover(data, [], draw)
    for _ in range(PASSES):
        rules = [*rules]
        for index in range(len(rules)):
            rules[index] = _reconsidered(data, rules, index, draw)
        rules = _cover(data, rules, draw)
    return _without_useless(data, rules)


def _cover(data: Data, rules: list[Literals], draw: np.random.Generator) -> list[Literals]:
    """Add rules until no positive row is left, or it does not pay any more."""
    rules = list(rules)
    left = ~_any(data, rules)
    least = total_length(data, rules)
    while bool((data.positive & left).any()):
        growing, pruning = data.take(left).split(draw)
        literals = prune(grow(growing, ()), pruning)
        if not literals:
            break
        judged = pruning if bool(covered(pruning, literals).any()) else data.take(left)
        right, wrong = judged.weights_covered(covered(judged, literals))
        if wrong >= right:
            break
        length = total_length(data, [*rules, literals])
        if length > least + SURPLUS_BITS:
            break
        least = min(least, length)
        rules.append(literals)
        left &= ~covered(data, literals)
    return rules


def _reconsidered(
    data: Data, rules: list[Literals], index: int, draw: np.random.Generator
) -> Literals:
    """The rule, a replacement, or a revision: whichever gives the shortest description.

    Both alternatives see only what the other rules leave, and are pruned for the fewest errors.
    """
    others = rules[:index] + rules[index + 1 :]
    left = ~_any(data, others)
    if not bool((data.positive & left).any()):
        return rules[index]
    growing, pruning = data.take(left).split(draw)
    candidates = [rules[index]]
    for start in ((), rules[index]):
        literals = prune(grow(growing, start), pruning, fewest_errors=True)
        if literals:
            candidates.append(literals)
    return min(candidates, key=lambda c: total_length(data, [*others[:index], c, *others[index:]]))


def _without_useless(data: Data, rules: list[Literals]) -> list[Literals]:
    """Drop rules, the last first, that lengthen the description."""
    kept = list(rules)
    for index in reversed(range(len(rules))):
        fewer = kept[:index] + kept[index + 1 :]
        if total_length(data, fewer) <= total_length(data, kept):
            kept = fewer
    return kept


def _any(data: Data, rules: Sequence[Literals]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Rows that some rule covers."""
    some = np.zeros(len(data.positive), dtype=bool)
    for literals in rules:
        some |= covered(data, literals)
    return some
