"""Which PU each thread runs on: a placement gives masks, and a replay needs one PU a thread.

Unless threads share PUs that are fewer than they are: then a scheduler moves them within masks.
"""

from __future__ import annotations

from autofinity.model.errors import PlacementError
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex, Topology


def shares(placement: Placement) -> bool:
    """Whether threads share PUs, fewer than they are, among which a scheduler may move them."""
    together = frozenset[OsIndex]().union(*placement.masks)
    return len(placement.masks) > len(together) and any(len(mask) > 1 for mask in placement.masks)


def choose_pus(placement: Placement, topology: Topology) -> tuple[OsIndex, ...]:
    """One PU a thread: the lowest allowed one of its mask that no earlier thread has.

    A thread whose whole mask is taken shares the PU of its mask with fewest threads (the lowest of
    these). Raises `PlacementError` for a mask without an allowed PU.
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
