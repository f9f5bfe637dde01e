"""All mappers by name."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.mapping.bisection import bisection
from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.edmonds import edmonds
from autofinity.mapping.exact import exact
from autofinity.mapping.mapper import Mapper
from autofinity.mapping.refined import refined
from autofinity.mapping.scotch import scotch
from autofinity.mapping.static import at_random, compact, scatter
from autofinity.mapping.treematch import treematch

MAPPERS: Mapping[str, Mapper] = {
    "refined": Mapper(
        refined, "EagerMap's and bisection's, exchanged until nothing pays", quick_up_to=1024
    ),
    "eagermap": Mapper(
        eagermap,
        "greedy groups, level by level",
        "EagerMap, as kMAF'16 (section 4.4) and SAMMU use it",
    ),
    "edmonds": Mapper(
        edmonds,
        "exact matchings, level by level, any arity",
        "Cruz, Diener & Navaux, CCPE 2014, section 5.2",
        192,
    ),
    "bisection": Mapper(
        bisection,
        "threads and machine halved together, with Kernighan and Lin's exchanges",
        quick_up_to=1024,
    ),
    "scotch": Mapper(
        scotch,
        "threads and machine halved together by the library",
        "kMAF'14, section 3.4; needs libscotch 7 (Debian: libscotch-7.0)",
        1024,
    ),
    "treematch": Mapper(
        treematch,
        "groups that share least outside, level by level",
        "after Jeannot, Mercier & Tessier, TPDS 2014",
        192,
    ),
    "exact": Mapper(exact, "the least cost, by branch and bound; up to 32 threads", quick_up_to=12),
    "compact": Mapper(compact, "threads by number in hardware order", "kMAF'16, section 5.3"),
    "scatter": Mapper(scatter, "threads by number, in turn on each socket"),
    "random": Mapper(at_random, "at random, with seed 0"),
}
"""Mappers in the order in which tables list them."""


def all_in_markdown() -> str:
    """The table of docs/mapping.md."""
    rows = [f"| `{name}` | {of.meaning} | {of.source} |" for name, of in MAPPERS.items()]
    return "\n".join(["| name | method | source |", "|---|---|---|", *rows])
