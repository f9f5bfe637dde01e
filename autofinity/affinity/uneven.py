"""Affinities that load sockets and LLC domains unequally, each about twice as much as the next.

The best matches of the hints treat threads alike as far as they can, so that all wait for memory
about as long. In these some threads have two and four times as many neighbours as others: waits
differ most, and what hangs on who comes first comes out otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autofinity.affinity.enumerate import rooms_of
from autofinity.model.affinity import Affinity
from autofinity.model.topology import Topology


def uneven_affinities(topology: Topology, threads: int) -> Iterator[Affinity]:
    """In one socket, if it has room; in all sockets, packed in each; and spread in each.

    With at most a thread a core. Some may be equal, and even: on one LLC domain, or on all cores.
    Raises `PlacementError` when the threads cannot be placed on the allowed PUs.
    """
    rooms = [[most for _, most in socket] for socket in rooms_of(topology, threads)]
    if threads <= sum(rooms[0]):
        yield Affinity.of([halving(threads, rooms[0])])
    loads = halving(threads, [sum(socket) for socket in rooms])
    yield Affinity.of(map(_packed, loads, rooms))
    yield Affinity.of(map(_spread, loads, rooms))


def halving(threads: int, rooms: Sequence[int]) -> list[int]:
    """Threads in each room, about twice as many as in the next.

    `rooms` has what each holds, at least `threads` together.
    """
    counts = []
    left = threads
    for i, room in enumerate(rooms):
        later = len(rooms) - i
        share = round(left * 2 ** (later - 1) / (2**later - 1))
        count = min(room, left, max(share, left - sum(rooms[i + 1 :])))
        counts.append(count)
        left -= count
    return counts


def _packed(threads: int, rooms: Sequence[int]) -> list[int]:
    counts = []
    for room in rooms:
        counts.append(min(room, threads))
        threads -= counts[-1]
    return counts


def _spread(threads: int, rooms: Sequence[int]) -> list[int]:
    counts = [0] * len(rooms)
    for _ in range(threads):
        with_room = (i for i, room in enumerate(rooms) if counts[i] < room)
        counts[min(with_room, key=counts.__getitem__)] += 1
    return counts
