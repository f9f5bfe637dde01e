"""Search for better affinities: one thread is moved from the best affinities found so far.

Local search by edit distance: all affinities one move away from the best few are profiled, as long
as the set of the best changes. The result is a local optimum, so an oracle that was found in this
way is a lower bound of the true oracle; exhaustive runs of a few programs show the difference.
"""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.affinity.enumerate import place
from autofinity.model.affinity import Affinity
from autofinity.model.errors import PlacementError
from autofinity.model.topology import Topology

BEST = 2
"""Number of best affinities whose neighbours are tried: the runner-up may lie in another basin."""


def neighbours(topology: Topology, affinity: Affinity) -> list[Affinity]:
    """Every affinity of the machine at one move of one thread to another LLC domain, sorted."""
    # An empty domain in each used socket, and an empty socket, are targets of moves.
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

    The list is empty at a local optimum.
    """
    best = sorted(roi_s, key=lambda affinity: (roi_s[affinity], affinity))[:BEST]
    found = dict.fromkeys(
        near for affinity in best for near in neighbours(topology, affinity) if near not in roi_s
    )
    return list(found)[:most]


def fits(topology: Topology, affinity: Affinity) -> bool:
    """Whether the machine has cores for the affinity."""
    try:
        place(topology, affinity)
    except PlacementError:
        return False
    return True
