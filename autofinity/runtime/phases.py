"""Which phase a program is in, told by what does not depend on where its threads are.

Instructions by kind (loads, stores) are the program's own. Requests that leave the core are nearly
so: caches that belong to one core hold what they hold wherever that core is, but for lines that
others take away. How fast it runs, and what its LLC holds, says nothing of the phase: that is what
placements change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from autofinity.model.counters import Behaviour
from autofinity.runtime.looks import Look

_INSTRUCTIONS = "instructions"
_REQUESTS = "llc_requests"


class _Kind(NamedTuple):
    """How far two looks at one phase may be apart."""

    factor: float
    least: float
    """Per 1,000 instructions; what is rarer in both is alike."""


_KINDS: Mapping[str, _Kind] = {
    "data_cache_loads": _Kind(1.06, 10.0),
    "data_cache_stores": _Kind(1.06, 10.0),
    _REQUESTS: _Kind(1.5, 2.0),
}
PHASE_COUNTERS = (_INSTRUCTIONS, *_KINDS)
"""What a phase is told by, where it is counted."""
_AS_MANY = 1.2  # requests, at most
_NEARBY = 0.12
"""Apart: so much of what is counted may be of another phase where an answer is clear all the
same."""
_WARM = 0.9
"""Of the speed to come: caches are taken to be full."""


@dataclass(frozen=True, slots=True)
class Phase:
    """Counts per 1,000 instructions, by name; nothing where nothing tells phases apart."""

    per_kilo: Mapping[str, float]

    @staticmethod
    def of(behaviour: Behaviour) -> Phase:
        """Of one look, or the mean of several."""
        instructions = behaviour[_INSTRUCTIONS]
        if not instructions > 0:
            return Phase({})
        counts = {name: 1e3 * behaviour[name] / instructions for name in _KINDS}
        return Phase({name: count for name, count in counts.items() if math.isfinite(count)})

    def like(self, other: Phase) -> bool:
        """Whether both may be the same phase: nothing that is known of both tells them apart."""
        return all(
            _alike(count, other.per_kilo[name], _KINDS[name])
            for name, count in self.per_kilo.items()
            if name in other.per_kilo
        )

    def within(self, others: Sequence[Phase]) -> bool:
        """Whether it may be a mixture of other phases: every count lies among theirs."""
        return bool(others) and all(
            min(seen) / _KINDS[name].factor <= count <= max(seen) * _KINDS[name].factor
            for name, count in self.per_kilo.items()
            if (seen := [each.per_kilo[name] for each in others if name in each.per_kilo])
        )

    def apart(self, other: Phase) -> float:
        """Share of what both count that one of them has and the other has not; 0 where nothing
        tells them apart. Infinite where one asks its caches for more: that takes time.
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
        """How far apart two phases that are alike are; for choosing the nearest."""
        return math.fsum(
            abs(math.log(max(count, kind.least) / max(other.per_kilo[name], kind.least)))
            / math.log(kind.factor)
            for name, count in self.per_kilo.items()
            if name in other.per_kilo and (kind := _KINDS[name])
        )


def _alike(a: float, b: float, kind: _Kind) -> bool:
    return max(a, b, kind.least) <= kind.factor * max(min(a, b), kind.least)


def paired(starts: Sequence[Look], probes: Sequence[Look]) -> list[tuple[Look, Look]]:
    """Each look of `probes` with the look of `starts` at the same phase that is most like it, those
    that were paired seldom first; a probe at a phase that `starts` did not see is left out.

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
    """Each look of `probes` with the look of `starts` at the phase that is least apart, where that
    is not another one altogether.
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
    """How far the phases of a pair are apart, at most."""
    return max(
        (Phase.of(a.behaviour).apart(Phase.of(b.behaviour)) for a, b in pairs), default=math.inf
    )


def warmed(pairs: Sequence[tuple[Look, Look]]) -> list[tuple[Look, Look]]:
    """Pairs of looks, in the order of the second ones, without the first few of them that were at a
    lower speed, against their partners, than the later half: caches still filled. How long that
    takes depends on the program, which fills them as it comes by its data.
    """
    if not pairs:
        return []
    gains = [_gain(*pair) for pair in pairs]
    usual = median(gains[len(gains) // 2 :])
    cold = 0
    while cold + 1 < len(gains) and gains[cold] < _WARM * usual:
        cold += 1
    return list(pairs[cold:])


def _gain(start: Look, probe: Look) -> float:
    before = start.behaviour[_INSTRUCTIONS]
    return probe.behaviour[_INSTRUCTIONS] / before if before > 0 else math.nan
