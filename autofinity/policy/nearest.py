"""How far a sample is from another decision.

Distances are relative: the change of a value divided by its magnitude (for a value of zero, divided
by the counter's largest edge). Two questions are answered exactly:

* `single_changes`: for each counter or ratio alone, the smallest change that gives another hint;
* `nearest_change`: the smallest change of any of them together, where the size of a joint change
  is that of its largest part.

A value that was not measured (NaN) or is infinite is not moved. Ratios are moved as such: a change
of a ratio is not traced back to its counters.
"""

from __future__ import annotations

import heapq
import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from autofinity.model.affinity import Hint
from autofinity.model.policy import Rule, RulePolicy
from autofinity.policy.firing import hint_at, holds

REGIONS_AT_MOST = 20_000
"""Largest number of regions that `nearest_change` examines (tens are usual)."""

type Box = dict[str, tuple[float, float]]
"""Counter → (lower, upper], as in a condition; an absent counter may have any value."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one value across one edge."""

    counter: str
    value: float
    edge: float
    upwards: bool
    """True: the value has to become larger than the edge; false: as small as the edge."""
    relative: float
    hint: Hint
    """The policy's answer after the change."""


@dataclass(frozen=True, slots=True)
class NearestChange:
    """Changes that, made together, give another hint."""

    hint: Hint
    changes: tuple[Change, ...]
    relative: float
    """Size of the largest of the changes."""


def edges_of(policy: RulePolicy, counter: str) -> list[float]:
    """Finite bounds that the rules set on a counter, ascending."""
    edges = {
        bound
        for rule in policy.rules
        for condition in rule.conditions
        if condition.counter == counter
        for bound in (condition.lower, condition.upper)
        if math.isfinite(bound)
    }
    return sorted(edges)


def relative(value: float, edge: float, edges: list[float]) -> float:
    """Distance from a value to an edge, divided by the magnitude of the value."""
    scale = abs(value) or max((abs(e) for e in edges), default=0.0) or 1.0
    return abs(edge - value) / scale if math.isfinite(value) else math.inf


def hints_along(
    policy: RulePolicy, values: Mapping[str, float], counter: str
) -> tuple[list[float], list[Hint]]:
    """Answers at all values of one counter, while all others stay: the upper ends of stretches
    (lower, upper], ascending, from the lowest edge to ∞, and the hint of each stretch.
    """
    ends = [*edges_of(policy, counter), math.inf]
    answers: list[Hint | None] = [None] * len(ends)
    following = list(range(len(ends) + 1))

    def unanswered(index: int) -> int:
        """The first stretch from `index` on that has no answer yet."""
        while following[index] != index:
            following[index] = following[following[index]]
            index = following[index]
        return index

    for rule in policy.rules:
        if not all(c.counter == counter or c.holds(values[c.counter]) for c in rule.conditions):
            continue
        lower, upper = _within({}, rule).get(counter, (-math.inf, math.inf))
        index = unanswered(bisect_right(ends, lower))
        while index < len(ends) and ends[index] <= upper:
            answers[index] = rule.hint
            following[index] = index + 1
            index = unanswered(index)
    return ends, [policy.default if answer is None else answer for answer in answers]


def single_changes(policy: RulePolicy, values: Mapping[str, float], hint: Hint) -> list[Change]:
    """For each counter that alone could change the hint, the smaller such change.

    `values` has every input of the policy; `hint` is the policy's answer for them.
    """
    changes = []
    for counter in policy.inputs:
        value = values[counter]
        if not math.isfinite(value):
            continue
        ends, answers = hints_along(policy, values, counter)
        here = bisect_left(ends, value)
        above = ((ends[i - 1], True, answers[i]) for i in range(here + 1, len(ends)))
        below = ((ends[i], False, answers[i]) for i in range(here - 1, -1, -1))
        found = [
            Change(counter, value, edge, up, relative(value, edge, ends[:-1]), other)
            for side in (above, below)
            for edge, up, other in itertools.islice((each for each in side if each[2] != hint), 1)
        ]
        if found:
            changes.append(min(found, key=lambda change: change.relative))
    return changes


def nearest_change(
    policy: RulePolicy, values: Mapping[str, float], hint: Hint
) -> NearestChange | None:
    """The smallest joint change that gives another hint.

    None when there is no such change, or when none is found within `REGIONS_AT_MOST`. The search
    goes best first over boxes. Each box is the region of a rule with another hint (for the default:
    everything). Where the point of the box that is nearest to the sample lies inside an earlier
    rule with the present hint, the box is split around that rule.
    """
    edges = {counter: edges_of(policy, counter) for counter in policy.inputs}
    present = [index for index, rule in enumerate(policy.rules) if rule.hint == hint]
    order = itertools.count()
    heap: list[tuple[float, int, Box, int]] = []

    def push(box: Box, before: int) -> None:
        """A box in which the rules with the present hint `before` that index come first."""
        distance = 0.0
        for counter, (lower, upper) in box.items():
            if not lower < upper or math.isnan(values[counter]):
                return
            distance = max(distance, _to_interval(values[counter], lower, upper, edges[counter]))
        if distance < math.inf:
            heapq.heappush(heap, (distance, next(order), box, before))

    for index, rule in enumerate(policy.rules):
        if rule.hint != hint:
            push(_within({}, rule), index)
    if policy.default != hint:
        push({}, len(policy.rules))

    for _ in range(REGIONS_AT_MOST):
        if not heap:
            return None
        distance, _, box, before = heapq.heappop(heap)
        point = dict(values)
        for counter, (lower, upper) in box.items():
            point[counter] = _clamped(values[counter], lower, upper)
        earlier = itertools.islice(present, bisect_left(present, before))
        block = next((policy.rules[i] for i in earlier if holds(policy.rules[i], point)), None)
        if block is None:
            return _described(policy, values, point, distance, edges)
        for condition in block.conditions:
            lower, upper = box.get(condition.counter, (-math.inf, math.inf))
            push({**box, condition.counter: (lower, min(upper, condition.lower))}, before)
            push({**box, condition.counter: (max(lower, condition.upper), upper)}, before)
    return None


def _within(box: Box, rule: Rule) -> Box:
    """The part of a box where a rule holds."""
    inside = dict(box)
    for condition in rule.conditions:
        lower, upper = inside.get(condition.counter, (-math.inf, math.inf))
        inside[condition.counter] = (max(lower, condition.lower), min(upper, condition.upper))
    return inside


def _to_interval(value: float, lower: float, upper: float, edges: list[float]) -> float:
    if value > upper:
        return relative(value, upper, edges)
    if value <= lower and lower > -math.inf:
        return relative(value, lower, edges)
    return 0.0


def _clamped(value: float, lower: float, upper: float) -> float:
    """The value in (lower, upper] that is nearest to `value`."""
    if value > upper:
        return upper
    if value <= lower and lower > -math.inf:
        return math.nextafter(lower, math.inf)
    return value


def _described(
    policy: RulePolicy,
    values: Mapping[str, float],
    point: Mapping[str, float],
    distance: float,
    edges: Mapping[str, list[float]],
) -> NearestChange:
    hint = hint_at(policy, point)
    changes = []
    for counter, value in values.items():
        target = point[counter]
        if target == value or math.isnan(value):
            continue
        up = target > value
        edge = math.nextafter(target, -math.inf) if up else target
        far = relative(value, edge, edges[counter])
        changes.append(Change(counter, value, edge, up, far, hint))
    return NearestChange(hint, tuple(changes), distance)
