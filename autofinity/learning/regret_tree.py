"""Rules with the least loss: a small tree grown on the cost of wrong hints, written as rules.

RIPPER minimises the number of wrong answers. Here every row has the loss of each hint, and a leaf
has the hint with the least expected loss. The tree grows greedily, best split first, as in CART
(Breiman et al. 1984), with the loss itself in place of an impurity (Turney 1995 reviews
cost-sensitive trees).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from autofinity.learning.bin_rules import BinRule

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
WORTH = 0.01
"""Least gain of a split, as a share of the loss of the best single hint: smaller gains are within
the noise of a few dozen programs."""

LEVEL = 0.02
"""Splits whose gains differ by less than this share are equally good."""

_ROUNDING = 1e-9
"""Share of a sum that its rounding cannot reach."""

LOWEST, MIDDLE, HIGHEST = 0.0, 0.5, 1.0
"""Position of an edge among edges that are equally good."""

type Box = dict[int, tuple[int, int]]
type Key = tuple[tuple[int, tuple[int, int]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Rows of bins with the loss of each label there, weights included."""

    bins: Ints
    """Bins: n × features, each from 0; −1 where the value is missing."""
    loss: Floats
    """Losses: n × labels, weighted; no NaN."""
    bin_counts: tuple[int, ...]
    preferred: tuple[int, ...] = ()
    """Labels that a leaf gets unless another one loses less by more than `WORTH`."""
    known_edges: Mapping[int, int] = field(default_factory=dict)
    """Last bin below an edge that is known before learning, by feature: the edge is chosen where it
    is as good as the best."""

    def take(self, rows: Ints) -> Losses:
        """Some of the rows."""
        return replace(self, bins=self.bins[rows], loss=self.loss[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A box of bins, the rows in it, and the label with the least loss there."""

    box: Box
    rows: Ints
    label: int
    most_gain: float
    """Gain of labels that are right in every row: no split has a larger one."""
    key: Key
    """The box, as a key."""


@dataclass(frozen=True, slots=True)
class Split:
    """The split of a leaf with the largest gain."""

    gain: float = 0.0
    feature: int = -1
    last_left: int = -1
    """Last bin on the left side."""


class Trees:
    """Trees over the same rows, grown for one choice of features and edges after the other.

    Most of them have boxes in common: what a split of a box gains is worked out once.
    """

    def __init__(self, data: Losses) -> None:
        self._data = data
        self._leaves: dict[Key, Leaf] = {}
        self._gains: dict[tuple[Key, int], Floats] = {}

    def grow(self, features: Sequence[int], most_leaves: int, edge: float = MIDDLE) -> list[Leaf]:
        """A tree over some of the features, grown with the best split first, while the gain is
        above `WORTH`.

        `edge` chooses among equally good edges, from `LOWEST` to `HIGHEST`; the middle edge keeps
        a distance from both sides. A row whose value is missing is in neither branch of a split: no
        condition holds for it.
        """
        data = self._data
        leaves = [self._leaf({}, lambda: np.arange(len(data.bins)))]
        worth = WORTH * float(data.loss[:, leaves[0].label].sum())
        splits = [self._split(leaves[0], features, edge, worth)]
        while len(leaves) < most_leaves:
            at = max(range(len(leaves)), key=lambda i: splits[i].gain)
            split = splits[at]
            if not split.gain > worth:
                break
            leaves[at : at + 1] = self._halves(leaves[at], split)
            if len(leaves) < most_leaves:
                splits[at : at + 1] = [
                    self._split(leaf, features, edge, worth) for leaf in leaves[at : at + 2]
                ]
        return [_preferred(data, leaf, worth) for leaf in leaves]

    def _halves(self, leaf: Leaf, split: Split) -> tuple[Leaf, Leaf]:
        feature, last_left = split.feature, split.last_left
        first, last = leaf.box.get(feature, (0, self._data.bin_counts[feature] - 1))
        binned = self._data.bins[leaf.rows, feature]
        return (
            self._leaf(
                {**leaf.box, feature: (first, last_left)},
                lambda: leaf.rows[(binned >= 0) & (binned <= last_left)],
            ),
            self._leaf(
                {**leaf.box, feature: (last_left + 1, last)},
                lambda: leaf.rows[binned > last_left],
            ),
        )

    def _leaf(self, box: Box, rows_of: Callable[[], Ints]) -> Leaf:
        key = tuple(sorted(box.items()))
        if key not in self._leaves:
            rows = rows_of()
            loss = self._data.loss[rows]
            total = loss.sum(axis=0)
            label = int(np.argmin(total))
            most_gain = float(total[label] - loss.min(axis=1).sum())
            self._leaves[key] = Leaf(box, rows, label, most_gain, key)
        return self._leaves[key]

    def _split(self, leaf: Leaf, features: Sequence[int], edge: float, worth: float) -> Split:
        """The best split; none where it could not be worth anything."""
        best = Split()
        if leaf.most_gain < worth * (1 - _ROUNDING):
            return best
        for feature in features:
            if self._data.bin_counts[feature] < 2:
                continue
            gains = self._gains_of(leaf, feature)
            if not gains.max() > best.gain + 1e-12:
                continue
            at = _among_best(gains, edge, self._data.known_edges.get(feature, -1))
            if gains[at] > best.gain + 1e-12:
                best = Split(float(gains[at]), feature, at)
        return best

    def _gains_of(self, leaf: Leaf, feature: int) -> Floats:
        """Gain of a split behind each bin but the last one."""
        key = leaf.key, feature
        if key not in self._gains:
            loss = self._data.loss[leaf.rows]
            binned = self._data.bins[leaf.rows, feature]
            by_bin = np.zeros((self._data.bin_counts[feature], loss.shape[1]))
            np.add.at(by_bin, binned[binned >= 0], loss[binned >= 0])
            upto = np.cumsum(by_bin, axis=0)
            left, total = upto[:-1], upto[-1]
            gains = total[leaf.label] - left.min(axis=1) - (total - left).min(axis=1)
            self._gains[key] = gains
        return self._gains[key]


def grow(
    data: Losses, features: Sequence[int], most_leaves: int, edge: float = MIDDLE
) -> list[Leaf]:
    """A single tree; see `Trees.grow`."""
    return Trees(data).grow(features, most_leaves, edge)


def labels_of(leaves: Sequence[Leaf], bins: Ints) -> Ints:
    """The label of each row of bins, as `rules_of` gives it."""
    labels = np.full(len(bins), _default(leaves))
    for leaf in leaves:
        labels[BinRule(leaf.box, leaf.label).fires(bins)] = leaf.label
    return labels


def rules_of(leaves: Sequence[Leaf]) -> list[BinRule]:
    """Ordered rules of the leaves.

    Neighbouring leaves of one label are joined, and the label of the most rows is the default.
    """
    rules = _joined([BinRule(dict(leaf.box), leaf.label) for leaf in leaves])
    default = _default(leaves)
    return [*(rule for rule in rules if rule.label != default), BinRule({}, default)]


def _default(leaves: Sequence[Leaf]) -> int:
    """The label of the most rows."""
    rows = np.bincount([leaf.label for leaf in leaves], weights=[len(x.rows) for x in leaves])
    return int(np.argmax(rows))


def _preferred(data: Losses, leaf: Leaf, worth: float) -> Leaf:
    loss = data.loss[leaf.rows].sum(axis=0)
    equal = [label for label in data.preferred if loss[label] <= loss[leaf.label] + worth]
    label = min(equal, key=lambda label: loss[label], default=leaf.label)
    return leaf if label == leaf.label else replace(leaf, label=label)


def _among_best(gains: Floats, edge: float, known: int) -> int:
    """The known split if it is among the best one and equally good ones after it, else the split at
    `edge` among these.
    """
    level = gains >= gains.max() * (1 - LEVEL)
    first = last = int(np.argmax(gains))
    while last + 1 < len(gains) and level[last + 1]:
        last += 1
    return known if first <= known <= last else first + int((last - first) * edge)


def _joined(rules: list[BinRule]) -> list[BinRule]:
    """Rules with boxes of one label joined that differ in a single range, and touch there."""
    for i, one in enumerate(rules):
        for j in range(i + 1, len(rules)):
            both = _union(one, rules[j])
            if both is not None:
                return _joined([*rules[:i], both, *rules[i + 1 : j], *rules[j + 1 :]])
    return rules


def _union(one: BinRule, other: BinRule) -> BinRule | None:
    if one.label != other.label or set(one.ranges) != set(other.ranges):
        return None
    differing = [f for f in one.ranges if one.ranges[f] != other.ranges[f]]
    if len(differing) != 1:
        return None
    (a, b), (c, d) = sorted((one.ranges[differing[0]], other.ranges[differing[0]]))
    if b + 1 != c:
        return None
    return BinRule({**one.ranges, differing[0]: (a, d)}, one.label)
