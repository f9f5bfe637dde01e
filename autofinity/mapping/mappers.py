"""All mappers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autofinity.mapping.bisection import bisection
from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.edmonds import edmonds
from autofinity.mapping.exact import exact
from autofinity.mapping.refined import refined
from autofinity.mapping.scotch import scotch
from autofinity.mapping.static import at_random, compact, scatter
from autofinity.mapping.treematch import treematch
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology

type Map = Callable[[SharingMatrix, Topology, frozenset[OsIndex]], tuple[OsIndex, ...]]
"""(sharing, topology, available) → the PU of each thread, in thread order; pure.

Raises `PlacementError` for no threads and no usable PU, `ValueError` for what is no sharing matrix,
`CapabilityError` where a library is missing, `UsageError` where it is too much work.
"""


@dataclass(frozen=True, slots=True)
class Mapper:
    """A mapper and one line on it."""

    run: Map
    meaning: str
    quick_up_to: int = 2048
    """Threads from which on it may take more than about a second."""


MAPPERS: Mapping[str, Mapper] = {
    "refined": Mapper(
        refined, "EagerMap's and bisection's, exchanged until nothing pays (ours)", 1024
    ),
    "eagermap": Mapper(eagermap, "greedy groups, level by level (EagerMap)"),
    "edmonds": Mapper(edmonds, "exact matchings, level by level (the TLB mechanism)", 192),
    "bisection": Mapper(bisection, "threads and machine halved together (ours)", 1024),
    "scotch": Mapper(scotch, "threads and machine halved together by SCOTCH (kMAF'14)", 1024),
    "treematch": Mapper(treematch, "groups that share least outside, level by level", 192),
    "exact": Mapper(exact, "the cheapest there is, for few threads", 12),
    "compact": Mapper(compact, "threads by number in hardware order"),
    "scatter": Mapper(scatter, "threads by number dealt over sockets"),
    "random": Mapper(at_random, "drawn with seed 0"),
}
