"""The order in which threads sit on the seats of an affinity, and seats whose caches have even
work. Pure.

Runtimes that divide a loop among threads give the larger parts to the threads with the low numbers.
Where threads with neighbouring numbers share caches, the caches of the low numbers have most to do,
while the threads of the others wait: of 96 planes, 32 of 64 threads have two and the others one.
Half of the threads of each cache with a half of another's even that out, and neighbours stay
together in halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.model.topology import OsIndex, Topology

BY_NUMBER = "the order of threads by number"
EXCHANGED = "an exchange of threads between caches with uneven work"
_EVENER = 0.05
"""Share of all work that an exchange must even out at least: a look has some noise, and who gains
less pays for the trial."""


@dataclass(frozen=True, slots=True)
class SeatOrder:
    """How threads sit on the seats of an affinity: near home, unless said otherwise."""

    by_number: bool = False
    """Threads with neighbouring numbers share caches, nodes and sockets."""
    exchanged: bool = False
    """Then caches exchange halves of their threads."""

    @property
    def shown(self) -> str:
        """Its name, for notes."""
        return EXCHANGED if self.exchanged else BY_NUMBER


NEAR_HOME = SeatOrder()


def exchanged(topology: Topology, seats: Sequence[OsIndex]) -> tuple[OsIndex, ...]:
    """The seats, one for each thread, with the later half of each cache's threads and those of the
    cache half of the caches away in each other's place. Caches are in the order of their first
    threads; of an odd number the middle one keeps its threads.
    """
    caches: dict[int, list[int]] = {}
    for thread, cpu in enumerate(seats):
        caches.setdefault(topology.by_os_index[cpu].llc, []).append(thread)
    each, found = list(caches.values()), list(seats)
    for one, other in zip(each, each[(len(each) + 1) // 2 :], strict=False):
        count = min(len(one), len(other)) // 2
        later = zip(one[len(one) - count :], other[len(other) - count :], strict=True)
        for here, there in later:
            found[here], found[there] = seats[there], seats[here]
    return tuple(found)


def evens_out(topology: Topology, seats: Sequence[OsIndex], work: Sequence[float]) -> bool:
    """Whether caches have much evener work after an exchange; `work` is by thread, as are seats."""
    other = exchanged(topology, seats)
    return uneven(topology, seats, work) - uneven(topology, other, work) >= _EVENER


def uneven(topology: Topology, seats: Sequence[OsIndex], work: Sequence[float]) -> float:
    """Deviation of the caches' work from the share of their threads, of all work: 0 to 2; 0 without
    any work.
    """
    total = sum(work)
    if total <= 0:
        return 0.0
    excess: dict[int, float] = {}
    for cpu, done in zip(seats, work, strict=True):
        llc = topology.by_os_index[cpu].llc
        excess[llc] = excess.get(llc, 0.0) + done / total - 1 / len(seats)
    return sum(map(abs, excess.values()))


def work_of(work: Mapping[int, float], threads: Sequence[int]) -> list[float]:
    """Work of the threads with these numbers; 0 for threads that no work was seen of."""
    return [work.get(number, 0.0) for number in threads]
