"""Mappings that do not use sharing: the baselines of the others."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from autofinity.mapping.seats import seats
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import PU, OsIndex, Topology


def compact(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """Threads by number on the PUs of `available` in hardware order, all PUs of a core first.

    kMAF'16, section 5.3. Fewer threads than PUs fill the first PUs only: only this mapper does not
    use the seats of the others. Raises the `PlacementError` of `seats`.
    """
    threads = sharing.threads
    if 0 < threads < len(available):
        return tuple(seats(topology, len(available), available)[:threads])
    return tuple(seats(topology, threads, available))


def scatter(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """Threads by number, assigned round robin: over sockets, in each over its nodes, LLCs, cores.

    Raises the `PlacementError` of `seats`.
    """
    by_os = topology.by_os_index
    chosen = [by_os[cpu] for cpu in seats(topology, sharing.threads, available)]
    return tuple(pu.os_index for pu in _dealt(chosen, 0))


def at_random(
    sharing: SharingMatrix,
    topology: Topology,
    available: frozenset[OsIndex],
    seed: int = 0,
) -> tuple[OsIndex, ...]:
    """Threads on the seats in a random order (`seed`). Raises the `PlacementError` of `seats`."""
    chosen = seats(topology, sharing.threads, available)
    random.Random(seed).shuffle(chosen)
    return tuple(chosen)


_PARTS: tuple[Callable[[PU], int], ...] = (
    lambda pu: pu.package,
    lambda pu: pu.node,
    lambda pu: pu.llc,
    lambda pu: pu.core,
    lambda pu: pu.os_index,
)
"""Parts of the machine around a PU, outermost first."""


def _dealt(pus: Sequence[PU], level: int) -> list[PU]:
    """PUs, one from each part of the level in turn, as long as they last; each part is ordered
    likewise.
    """
    if level == len(_PARTS):
        return list(pus)
    parts: dict[int, list[PU]] = {}
    for pu in pus:
        parts.setdefault(_PARTS[level](pu), []).append(pu)
    hands = [_dealt(part, level + 1) for part in parts.values()]
    longest = max(map(len, hands))
    return [hand[turn] for turn in range(longest) for hand in hands if turn < len(hand)]
