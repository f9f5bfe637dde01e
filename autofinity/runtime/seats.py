"""Which threads share, and the assignment of seats by sharing. Pure.

The policy decides how far threads are spread. It does not decide which threads share a cache, for a
policy looks at all threads together. Page faults show that, where the kernel lets pages fault
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Interval

WORTH_MOVING = 0.8
"""Largest share of the cost of communication that may remain for a change of seats to be worth its
moves."""
_FEWEST_EVENTS = 16  # of sharing for each thread, before it is used
_FADING = 0.95  # of what was seen before the last look: programs change


@dataclass(frozen=True, slots=True)
class SharedSoFar:
    """Sharing of threads by number. Start with `SharedSoFar()`."""

    counts: Mapping[tuple[int, int], float] = field(default_factory=dict)
    """Amount of sharing by pair of numbers, the lower one first."""

    def after(self, interval: Interval) -> SharedSoFar:
        """The sharing with one more interval, without the counts of threads that have ended."""
        ended = interval.threads("end")
        seen = {pair: count for pair, count in self.counts.items() if not ended.intersection(pair)}
        if interval.sharing is not None:
            for i, row in enumerate(interval.sharing.cells):
                for j, count in enumerate(row[i + 1 :], i + 1):
                    if count:
                        seen[i, j] = seen.get((i, j), 0.0) + count
        return SharedSoFar(seen)

    def faded(self) -> SharedSoFar:
        """The sharing with all counts one look older."""
        return SharedSoFar({pair: _FADING * count for pair, count in self.counts.items()})

    def among(self, numbers: Sequence[int]) -> SharingMatrix:
        """Sharing between these threads, in this order."""
        return SharingMatrix(
            tuple(
                tuple(self.counts.get((min(i, j), max(i, j)), 0.0) for j in numbers)
                for i in numbers
            )
        )


def shows_neighbours(topology: Topology, cpus: Sequence[OsIndex], sharing: SharingMatrix) -> bool:
    """Whether enough sharing was seen to assign neighbours.

    Seats on `cpus` by sharing must make communication cheaper by a fifth than seats assigned
    blindly.
    """
    if sum(map(sum, sharing.cells)) < _FEWEST_EVENTS * sharing.threads:
        return False
    from autofinity.mapping.cost import cost, distance
    from autofinity.mapping.eagermap import eagermap

    distances = [distance(topology, a, b) for a, b in combinations(cpus, 2)]
    shared = sum(sum(row[i + 1 :]) for i, row in enumerate(sharing.cells))
    by_chance = shared * sum(distances) / len(distances)
    mapped = eagermap(sharing, topology, frozenset(cpus))
    return cost(sharing, topology, mapped) < WORTH_MOVING * by_chance


def dealt(
    topology: Topology, cpus: Sequence[OsIndex], sharing: SharingMatrix
) -> tuple[OsIndex, ...]:
    """The same PUs, assigned by sharing (EagerMap).

    They are reassigned where enough sharing was seen and communication gets cheaper by a fifth;
    else they keep their order.
    """
    if sum(map(sum, sharing.cells)) < _FEWEST_EVENTS * sharing.threads:
        return tuple(cpus)
    # The native core costs the monitor memory: load it only where there is something to decide.
    from autofinity.mapping.cost import cost
    from autofinity.mapping.eagermap import eagermap

    mapped = eagermap(sharing, topology, frozenset(cpus))
    better = cost(sharing, topology, mapped) < WORTH_MOVING * cost(sharing, topology, cpus)
    return mapped if better else tuple(cpus)
