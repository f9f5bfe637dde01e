"""Chooses the PU of each thread: a placement gives masks, and a replay needs one PU for each
thread.

Where threads share PUs, fewer than there are threads, a scheduler moves the threads within masks
instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from autofinity.model.errors import PlacementError
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex, Topology


def shares(placement: Placement) -> bool:
    """Whether threads share PUs, fewer than there are threads, among which a scheduler may move
    them.
    """
    together = frozenset[OsIndex]().union(*placement.masks)
    return len(placement.masks) > len(together) and any(len(mask) > 1 for mask in placement.masks)


def choose_pus(
    placement: Placement, topology: Topology, now: Sequence[OsIndex] = ()
) -> tuple[OsIndex, ...]:
    """One PU for each thread, in `placement.masks`. Threads with narrow masks choose first, then
    those that are within their masks `now` (one PU for each thread, or none).

    A thread stays on its PU if its mask allows that and no other thread has it; else it takes the
    lowest such PU, if possible one where nobody is now. If there is none it shares the PU with
    fewest threads, the lowest of these. Raises `PlacementError` for a mask without an allowed PU.
    """
    masks, load, chosen = placement.masks, Counter[OsIndex](), dict[int, OsIndex]()
    taken = frozenset(now)
    first = sorted(
        range(len(masks)), key=lambda t: (len(masks[t]), bool(now) and now[t] not in masks[t])
    )
    for thread in first:
        mask = placement.masks[thread]
        allowed = mask & topology.allowed
        if not allowed:
            raise PlacementError(
                f"thread {thread} may run on {sorted(mask) or 'no PU'}; none of these is allowed "
                f"on {topology.name}"
            )
        here = now[thread] if now else None
        cpu = min(allowed, key=lambda c: (load[c], c != here, c in taken, c))
        load[cpu] += 1
        chosen[thread] = cpu
    return tuple(chosen[thread] for thread in range(len(placement.masks)))
