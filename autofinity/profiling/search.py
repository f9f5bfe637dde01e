"""Where to look on for better affinities: one thread moved from the best found so far.

Local search by edit distance: all affinities one move away from the best few are profiled, as long
as that changes which are the best. What it ends with is a local optimum, so an oracle that was
found so is a lower bound of the true one; exhaustive runs of a few programs say how far off it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.affinity.enumerate import place
from autofinity.model.affinity import Affinity
from autofinity.model.errors import PlacementError
from autofinity.model.topology import Topology

BEST = 2
"""Affinities whose neighbours are looked at: the runner-up may lie in another basin."""


def neighbours(topology: Topology, affinity: Affinity) -> list[Affinity]:
    """Every affinity of the machine that moving one thread to another LLC domain gives, sorted."""
    # An empty domain in each used socket, and an empty socket, are places to move to.
    sockets = [[*counts, 0] for counts in affinity.occupancy] + [[0]]
    domains = [(s, d) for s, counts in enumerate(sockets) for d in range(len(counts))]
    found = set()
    for source, target in ((a, b) for a in domains for b in domains if a != b):
        if sockets[source[0]][source[1]] == 0:
            continue
        moved = [counts[:] for counts in sockets]
        moved[source[0]][source[1]] -= 1
        moved[target[0]][target[1]] += 1
        found.add(Affinity.of(moved))
    return [each for each in sorted(found - {affinity}) if fits(topology, each)]


def to_try(topology: Topology, roi_s: Mapping[Affinity, float], most: int) -> list[Affinity]:
    """At most `most` neighbours of the best affinities of `roi_s` that have no time yet.

    Nothing is left to try in a local optimum.
    """
    best = sorted(roi_s, key=lambda affinity: (roi_s[affinity], affinity))[:BEST]
    found = dict.fromkeys(
        near for affinity in best for near in neighbours(topology, affinity) if near not in roi_s
    )
    return list(found)[:most]


def fits(topology: Topology, affinity: Affinity) -> bool:
    """Whether the machine has cores for it."""
    try:
        place(topology, affinity)
    except PlacementError:
        return False
    return True
