"""Chooses the PU of each thread: a placement gives masks, and a replay needs one PU for each
thread.

Where threads share PUs, fewer than there are threads, a scheduler moves the threads within masks
instead.
"""

from __future__ import annotations

from autofinity.model.errors import PlacementError
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex, Topology


def shares(placement: Placement) -> bool:
    """Whether threads share PUs, fewer than there are threads, among which a scheduler may move
    them.
    """
    together = frozenset[OsIndex]().union(*placement.masks)
    return len(placement.masks) > len(together) and any(len(mask) > 1 for mask in placement.masks)


def choose_pus(placement: Placement, topology: Topology) -> tuple[OsIndex, ...]:
    """One PU for each thread: the lowest allowed PU of its mask that no earlier thread has.

    A thread whose whole mask is taken shares the PU of its mask that has fewest threads (the lowest
    of these). Raises `PlacementError` for a mask without an allowed PU.
    """
    load: dict[OsIndex, int] = {}
    chosen = []
    for thread, mask in enumerate(placement.masks):
        allowed = sorted(mask & topology.allowed)
        if not allowed:
            raise PlacementError(
                f"thread {thread} may run on {sorted(mask) or 'no PU'}; none of these is allowed "
                f"on {topology.name}"
            )
        cpu = min(allowed, key=lambda c: (load.get(c, 0), c))
        load[cpu] = load.get(cpu, 0) + 1
        chosen.append(cpu)
    return tuple(chosen)
