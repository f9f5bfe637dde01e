"""The phase of a program, identified by counts that do not depend on where its threads are.

Instructions by kind (loads, stores) are the program's own. Requests that leave the core are nearly
so: the contents of caches that belong to one core do not depend on where that core is, except for
lines that other cores take away. The program's speed, and the contents of its LLC, do not identify
the phase: placements change them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from autofinity.model.counters import Behaviour
from autofinity.runtime.looks import Look

_INSTRUCTIONS = "instructions"
_REQUESTS = "llc_requests"


class _Kind(NamedTuple):
    """Largest difference between two looks at one phase."""

    factor: float
    least: float
    """Count per 1,000 instructions; two counts below it are alike."""


_KINDS: Mapping[str, _Kind] = {
    "data_cache_loads": _Kind(1.06, 10.0),
    "data_cache_stores": _Kind(1.06, 10.0),
    _REQUESTS: _Kind(1.5, 2.0),
}
PHASE_COUNTERS = (_INSTRUCTIONS, *_KINDS)
"""Counters that identify a phase, where they are counted."""
_AS_MANY = 1.2  # largest ratio of requests
_NEARBY = 0.12
"""Largest distance between nearby phases: the share of the counts that may be of another phase
where an answer is clear all the same."""
_WARM = 0.9
"""Share of the later speed from which on caches are assumed to be full."""


@dataclass(frozen=True, slots=True)
class Phase:
    """Counts per 1,000 instructions, by name; empty where nothing identifies phases."""

    per_kilo: Mapping[str, float]

    @staticmethod
    def of(behaviour: Behaviour) -> Phase:
        """Phase of one look, or of the mean of several."""
        instructions = behaviour[_INSTRUCTIONS]
        if not instructions > 0:
            return Phase({})
        counts = {name: 1e3 * behaviour[name] / instructions for name in _KINDS}
        return Phase({name: count for name, count in counts.items() if math.isfinite(count)})

    def like(self, other: Phase) -> bool:
        """Whether both may be the same phase: no count that both have differs."""
        for name, count in self.per_kilo.items():  # often asked: a generator takes twice as long
            if name in other.per_kilo and not _alike(count, other.per_kilo[name], _KINDS[name]):
                return False
        return True

    def within(self, others: Sequence[Phase]) -> bool:
        """Whether the phase may be a mixture of other phases: every count lies among theirs."""
        return bool(others) and all(
            min(seen) / _KINDS[name].factor <= count <= max(seen) * _KINDS[name].factor
            for name, count in self.per_kilo.items()
            if (seen := [each.per_kilo[name] for each in others if name in each.per_kilo])
        )

    def apart(self, other: Phase) -> float:
        """Distance of two phases: the share of their common counts that only one of them has.

        0 where they have no common count. Infinite where one phase makes more requests that leave
        the core than the other: such requests take time.
        """
        mine, others = (each.per_kilo.get(_REQUESTS, 0.0) for each in (self, other))
        if not _alike(mine, others, _Kind(_AS_MANY, _KINDS[_REQUESTS].least)):
            return math.inf
        both = [
            (count, other.per_kilo[name])
            for name, count in self.per_kilo.items()
            if name in other.per_kilo
        ]
        total = math.fsum(max(pair) for pair in both)
        return math.fsum(abs(a - b) for a, b in both) / total if total else 0.0

    def distance(self, other: Phase) -> float:
        """Distance of two phases that are alike; for choosing the nearest."""
        return math.fsum(
            abs(math.log(max(count, kind.least) / max(other.per_kilo[name], kind.least)))
            / math.log(kind.factor)
            for name, count in self.per_kilo.items()
            if name in other.per_kilo and (kind := _KINDS[name])
        )


def _alike(a: float, b: float, kind: _Kind) -> bool:
    less, more = (a, b) if a < b else (b, a)
    factor, least = kind
    return more <= factor * max(less, least)


def paired(starts: Sequence[Look], probes: Sequence[Look]) -> list[tuple[Look, Look]]:
    """Each look of `probes` with the most similar look of `starts` at the same phase; looks that
    were paired less often come first. A probe at a phase that `starts` did not see is left out.

    So both sides of all pairs together are of the same mixture of phases.
    """
    phases = [Phase.of(look.behaviour) for look in starts]
    taken = [0] * len(starts)
    found = []
    for probe in probes:
        phase = Phase.of(probe.behaviour)
        same = [number for number, each in enumerate(phases) if each.like(phase)]
        if same:
            best = min(same, key=lambda number: (taken[number], phases[number].distance(phase)))
            taken[best] += 1
            found.append((starts[best], probe))
    return found


def nearby(starts: Sequence[Look], probes: Sequence[Look]) -> list[tuple[Look, Look]]:
    """Each look of `probes` with the look of `starts` at the nearest phase.

    A probe whose nearest phase is too far away is left out.
    """
    phases = [Phase.of(look.behaviour) for look in starts]
    found = []
    for probe in probes:
        phase = Phase.of(probe.behaviour)
        best = min(range(len(phases)), key=lambda number: phases[number].apart(phase))
        if phases[best].apart(phase) <= _NEARBY:
            found.append((starts[best], probe))
    return found


def most_apart(pairs: Sequence[tuple[Look, Look]]) -> float:
    """Largest distance between the phases of a pair."""
    return max(
        (Phase.of(a.behaviour).apart(Phase.of(b.behaviour)) for a, b in pairs), default=math.inf
    )


def warmed(pairs: Sequence[tuple[Look, Look]]) -> list[tuple[Look, Look]]:
    """Pairs of looks, in the order of the second ones, without the first pairs that are still cold.

    A pair is cold when its second look, relative to the first, was slower than in the later half of
    the pairs: caches still filled. The time for that depends on the program, which fills caches as
    it reaches its data.
    """
    if not pairs:
        return []
    gains = [_gain(*pair) for pair in pairs]
    usual = _median(gains[len(gains) // 2 :])
    cold = 0
    while cold + 1 < len(gains) and gains[cold] < _WARM * usual:
        cold += 1
    return list(pairs[cold:])


def _median(values: Sequence[float]) -> float:
    """As of `statistics`, whose import would take a thirtieth of the monitor's memory."""
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _gain(start: Look, probe: Look) -> float:
    before = start.behaviour[_INSTRUCTIONS]
    return probe.behaviour[_INSTRUCTIONS] / before if before > 0 else math.nan
