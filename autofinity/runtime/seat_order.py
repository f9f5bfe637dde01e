"""An exchange of threads between caches, so that the caches have even work. Pure.

Runtimes that divide a loop among threads give the larger parts to the threads with the low numbers.
Where threads with neighbouring numbers share caches, the caches of the low numbers have most to do,
while the threads of the others wait: of 96 planes, 32 of 64 threads have two and the others one.
Half of the threads of each cache with a half of another's even that out, and neighbours stay
together in halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autofinity.model.answer_on_record import SeatOrder
from autofinity.model.topology import OsIndex, Topology

SHOWN: Mapping[SeatOrder, str] = {
    "near home": "the order of threads near home",
    "by number": "the order of threads by number",
    "exchanged": "an exchange of threads between caches with uneven work",
}
"""Names of orders, for notes."""
_EVENER = 0.025
"""Share of all work that an exchange must even out at least: a look has some noise, and who gains
less pays for the trial."""


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
    """Whether caches have much evener work after an exchange; `work` is by thread, as are seats,
    and NaN where it is not known.

    False on cores of several kinds: who sits on a slow one has done less, whatever its part is.
    """
    if len({topology.by_os_index[cpu].efficiency for cpu in seats}) > 1:
        return False
    other = exchanged(topology, seats)
    return uneven(topology, seats, work) - uneven(topology, other, work) >= _EVENER


def uneven(topology: Topology, seats: Sequence[OsIndex], work: Sequence[float]) -> float:
    """Share of all work that caches do beyond the share of their threads, 0 to 1; 0 without any
    work, NaN where the work of a thread is.
    """
    total = sum(work)
    if total <= 0:
        return 0.0
    excess: dict[int, float] = {}
    for cpu, done in zip(seats, work, strict=True):
        llc = topology.by_os_index[cpu].llc
        excess[llc] = excess.get(llc, 0.0) + done / total - 1 / len(seats)
    return sum(map(abs, excess.values())) / 2


def work_of(work: Mapping[int, float], threads: Sequence[int]) -> list[float]:
    """Work of the threads with these numbers; NaN for threads that no work is known of."""
    return [work.get(number, float("nan")) for number in threads]
