"""All affinities of a thread count on a machine, up to isomorphism, and a core set for each.

Source: Moore & Childers, CC 2013, section 2.1. An affinity is feasible when its sockets can be
matched to the machine's sockets, and the counts within each to its LLC domains, so that no count
exceeds the cores available there. Sockets and domains of equal capacity are interchangeable, so no
affinity is generated twice. On 4 sockets × 2 LLCs × 6 cores there are 11, 80, 912 and 1979
affinities of 4, 8, 16 and 24 threads (the paper counts 78 for 8 threads and 1941 for 24, and does
not say which it leaves out).

With more threads than cores, or as many threads as the whole machine has cores, threads may share
cores while others are idle (as in GETAFFINITY); on machines of several kinds of cores every core
holds one thread first, and the affinities differ in where the second PUs are used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from math import comb

from autofinity.affinity.hints import check_available, too_many
from autofinity.affinity.topology_handle import topology_handle
from autofinity.model.affinity import Affinity
from autofinity.model.errors import PlacementError, UsageError
from autofinity.model.placement import CoreSet
from autofinity.model.topology import OsIndex, Topology

MOST_LISTED = 2_000_000

type Pattern = tuple[int, ...]
"""Threads in the used domains of one socket, descending."""
type Rooms = tuple[tuple[int, int], ...]
"""Fewest and most threads that each domain of a socket may hold; descending."""


def enumerate_affinities(
    topology: Topology, threads: int, available: frozenset[OsIndex] | None = None
) -> Iterator[Affinity]:
    """Every affinity of `threads` threads that fits on `available` (default: allowed) once.

    Affinities descend by sockets (total, then counts): packed ones come first. The iterator is
    lazy: large machines have millions of affinities. Raises `PlacementError` when the threads
    cannot be placed at all.
    """
    rooms = rooms_of(topology, threads, available)
    return _affinities(rooms, threads)


def count_affinities(
    topology: Topology, threads: int, available: frozenset[OsIndex] | None = None
) -> int:
    """Number of affinities.

    The affinities are counted without a list where the sockets are alike, or where each kind of
    socket has room for all that the smaller kinds have. Elsewhere they are listed; raises
    `UsageError` when there are more than `MOST_LISTED`.
    """
    rooms = rooms_of(topology, threads, available)
    kinds = _nested_kinds(rooms)
    if kinds is not None:
        return _count_nested(kinds, threads)
    count = sum(1 for _ in islice(_affinities(rooms, threads), MOST_LISTED + 1))
    if count > MOST_LISTED:
        raise UsageError(
            f"there are more than {MOST_LISTED} affinities of {threads} threads on "
            f"{topology.name or 'this machine'}, whose sockets differ too much to count them "
            "without listing; ask for fewer threads"
        )
    return count


def place(
    topology: Topology, affinity: Affinity, available: frozenset[OsIndex] | None = None
) -> CoreSet:
    """A core set of the class `affinity` on `available` (default: allowed PUs).

    Among all such sets, the one on the nearest nodes is chosen, then the one with the
    lexicographically smallest list of PUs, sorted by kind of core (the fastest first) and OS index.
    Above the core count the list is that of the PUs chosen on the last SMT level; where not all
    cores have a thread, it goes core by core. Raises `PlacementError` when the affinity does not
    fit.
    """
    from autofinity._core.affinity import place as native

    check_available(topology, available)
    if affinity.threads > len(topology.pus):
        usable = topology.allowed if available is None else available
        raise too_many(topology, affinity.threads, len(usable))
    found = native(topology_handle(topology), affinity.occupancy, available)
    if isinstance(found, int):
        raise too_many(topology, affinity.threads, found)
    if found is None:
        rooms = rooms_of(topology, affinity.threads, available)
        have = "".join("{" + ",".join(str(most) for _, most in socket) + "}" for socket in rooms)
        raise PlacementError(
            f"the affinity {affinity} does not fit on {topology.name or 'this machine'}, where the "
            f"LLC domains of the sockets have room for {have}"
        )
    cpus, canonical, occupancy = found
    return CoreSet(cpus, Affinity(canonical), occupancy)


def rooms_of(
    topology: Topology, threads: int, available: frozenset[OsIndex] | None
) -> tuple[Rooms, ...]:
    """Rooms of each socket with available PUs (None: allowed ones), the roomiest socket first.

    They are those of the SMT level that `threads` reaches; of all levels where siblings may be used
    while cores are idle. Raises `PlacementError` when the threads cannot be placed at all.
    """
    check_available(topology, available)
    usable = topology.allowed if available is None else available
    cores: Counter[tuple[int, int, int]] = Counter()
    for pu in topology.pus:
        if pu.os_index in usable:
            cores[pu.package, pu.llc, pu.core] += 1
    total = sum(cores.values())
    if threads < 1 or threads > total:
        raise too_many(topology, threads, total)
    level = 1
    while sum(min(pus, level) for pus in cores.values()) < threads:
        level += 1
    kinds = {pu.efficiency for pu in topology.pus if pu.os_index in usable}
    full = threads > len(cores) or threads == len({pu.core for pu in topology.pus})
    together = full and len(kinds) == 1
    domains: dict[int, dict[int, tuple[int, int]]] = {}
    for (package, llc, _), pus in cores.items():
        fewest, most = domains.setdefault(package, {}).get(llc, (0, 0))
        room = (0, pus) if together else (min(pus, level - 1), min(pus, level))
        domains[package][llc] = fewest + room[0], most + room[1]
    return tuple(
        sorted((tuple(sorted(s.values(), reverse=True)) for s in domains.values()), reverse=True)
    )


def _patterns(rooms: Rooms, most: int) -> list[Pattern]:
    """Patterns that one socket can hold, up to `most` threads, descending by (total, counts)."""
    if len({fewest for fewest, _ in rooms}) == 1:
        base = rooms[0][0]
        found = list(_partitions(tuple(high - base for _, high in rooms), most - base * len(rooms)))
        if base:
            padded = (p + (0,) * (len(rooms) - len(p)) for p in found)
            found = [tuple(base + count for count in p) for p in padded]
    else:
        known: set[Pattern] = {()}
        for low, high in rooms:
            known = {
                tuple(sorted((*pattern, count), reverse=True)) if count else pattern
                for pattern in known
                for count in range(low, min(high, most - sum(pattern)) + 1)
            }
        found = list(known)
    return sorted(found, key=_rank, reverse=True)


def _partitions(capacities: Pattern, most: int, largest: int | None = None) -> Iterator[Pattern]:
    """Descending counts of any total, with the i-th at most the i-th capacity (also descending)."""
    yield ()
    if not capacities:
        return
    top = min(capacities[0], most, capacities[0] if largest is None else largest)
    for first in range(1, top + 1):
        for rest in _partitions(capacities[1:], most - first, first):
            yield (first, *rest)


def _rank(pattern: Pattern) -> tuple[int, Pattern]:
    return sum(pattern), pattern


def _affinities(rooms: Sequence[Rooms], threads: int) -> Iterator[Affinity]:
    """Affinities with sockets in descending order, so that none is generated twice."""
    kinds = Counter(rooms)
    fitting: dict[Pattern, set[Rooms]] = {}
    for kind in kinds:
        for pattern in _patterns(kind, threads):
            fitting.setdefault(pattern, set()).add(kind)
    patterns = sorted(fitting, key=_rank, reverse=True)
    if len(kinds) == 1:
        yield from map(Affinity, _sequences(patterns, 0, len(rooms), threads))
        return
    for found in _sequences(patterns, 0, len(rooms), threads):
        used = list(found) + [()] * (len(rooms) - len(found))
        if _matches(used, fitting, rooms):
            yield Affinity(found)


def _sequences(
    patterns: Sequence[Pattern], start: int, sockets: int, threads: int
) -> Iterator[tuple[Pattern, ...]]:
    """Sequences of at most `sockets` patterns from `start` on, in order, of `threads` threads in
    all.
    """
    if threads == 0:
        yield ()
        return
    for i in range(start, len(patterns)):
        total = sum(patterns[i])
        if total * sockets < threads:
            return  # all that follow are smaller still
        if total <= threads:
            for rest in _sequences(patterns, i, sockets - 1, threads - total):
                yield (patterns[i], *rest)


def _matches(
    used: Sequence[Pattern], fitting: dict[Pattern, set[Rooms]], rooms: Sequence[Rooms]
) -> bool:
    """Whether each pattern can have a socket of its own (augmenting paths)."""
    owner: dict[int, int] = {}

    def settle(pattern: int, tried: set[int]) -> bool:
        for socket, kind in enumerate(rooms):
            if socket in tried or kind not in fitting.get(used[pattern], ()):
                continue
            tried.add(socket)
            if socket not in owner or settle(owner[socket], tried):
                owner[socket] = pattern
                return True
        return False

    return all(settle(pattern, set()) for pattern in range(len(used)))


def _nested_kinds(rooms: Sequence[Rooms]) -> list[tuple[Rooms, int]] | None:
    """Kinds of sockets and the number of each, roomiest first.

    Each kind must have at least the room of the next. None when the kinds cannot be ordered so, or
    lower SMT levels differ.
    """
    bases = {fewest for socket in rooms for fewest, _ in socket}
    if bases != {0} and (len(bases) > 1 or len(set(rooms)) > 1):
        return None
    kinds = sorted(Counter(rooms).items(), reverse=True)
    for (larger, _), (smaller, _) in pairwise(kinds):
        if len(larger) < len(smaller) or any(
            a[1] < b[1] for a, b in zip(larger, smaller, strict=False)
        ):
            return None
    return kinds


def _pattern_counts(rooms: Rooms, threads: int) -> list[int]:
    """Number of patterns that a socket can hold, by total from 0 to `threads`. Domains share one
    base.
    """
    base = rooms[0][0]
    rest = threads - base * len(rooms)
    capacities = [most - base for _, most in rooms]
    # ways[parts][total]: counts of value v or more, from the largest v down
    ways = [[0] * (max(rest, 0) + 1) for _ in range(len(rooms) + 1)]
    ways[0][0] = 1
    for value in range(max(capacities), 0, -1):
        wide = sum(1 for capacity in capacities if capacity >= value)
        for parts in range(1, wide + 1):
            for total in range(value, rest + 1):
                ways[parts][total] += ways[parts - 1][total - value]
    found = [0] * (threads + 1)
    for total in range(max(rest, -1) + 1):
        found[total + base * len(rooms)] = sum(row[total] for row in ways)
    return found


def _with_more(
    ways: Sequence[Sequence[int]], patterns: int, total: int, room: int
) -> list[list[int]]:
    """`ways[used][held]` after any number of sockets more, up to `room` of them, hold one of
    `patterns` patterns of `total` threads each.
    """
    more = [list(row) for row in ways]
    threads = len(ways[0]) - 1
    for used, row in enumerate(ways[: room + 1]):
        for held, count in enumerate(row):
            most = min(room - used, (threads - held) // total) if count else 0
            for times in range(1, most + 1):
                more[used + times][held + times * total] += count * comb(
                    patterns + times - 1, times
                )
    return more


def _count_nested(kinds: Sequence[tuple[Rooms, int]], threads: int) -> int:
    """Number of multisets of patterns.

    Patterns that only the roomiest kinds can hold are chosen first, and never more of them than
    there are such sockets.
    """
    held_by = [_pattern_counts(kind, threads) for kind, _ in kinds]
    held_by.append([0] * (threads + 1))
    if not any(fewest for kind, _ in kinds for fewest, _ in kind):
        held_by[-1][0] = 1  # the empty pattern is no socket used
    # ways[used][total] of choosing `used` patterns with `total` threads, so far
    sockets = sum(count for _, count in kinds)
    must_use_all = any(fewest for kind, _ in kinds for fewest, _ in kind)
    ways = [[0] * (threads + 1) for _ in range(sockets + 1)]
    ways[0][0] = 1
    room = 0
    for (_, count), mine, smaller in zip(kinds, held_by, held_by[1:], strict=False):
        room += count
        for total in range(1, threads + 1):
            patterns = mine[total] - smaller[total]
            if patterns:
                ways = _with_more(ways, patterns, total, room)
    if must_use_all:
        return ways[sockets][threads]
    return sum(row[threads] for row in ways)
