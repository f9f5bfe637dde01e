"""Which affinities of a thread count are profiled."""

from __future__ import annotations

import itertools
import random

from autofinity.affinity.enumerate import enumerate_affinities
from autofinity.affinity.hints import all_hints
from autofinity.model.affinity import Affinity
from autofinity.model.errors import UsageError
from autofinity.model.topology import Topology


def best_matches(topology: Topology, threads: int) -> list[Affinity]:
    """The distinct best matches of the eight hints, in the order of the hints."""
    found: dict[Affinity, None] = {}
    for cores in all_hints(topology, threads):
        found.setdefault(cores.affinity)
    return list(found)


def select(topology: Topology, threads: int, wanted: str, seed: int) -> list[Affinity]:
    """Affinities to profile, best matches first.

    `wanted`: `all`, `hints` (best matches only), or a number: the best matches and as many others
    drawn with `seed`, spread evenly over the enumeration, which runs from packed to distributed.
    Raises `UsageError` for anything else, and for a number below the count of best matches.
    """
    matches = best_matches(topology, threads)
    if wanted == "hints":
        return matches
    others = [a for a in enumerate_affinities(topology, threads) if a not in set(matches)]
    if wanted == "all":
        return matches + others
    if not wanted.isdigit():
        raise UsageError(f"--affinities {wanted!r}: expected 'all', 'hints' or a number")
    extra = int(wanted) - len(matches)
    if extra < 0:
        raise UsageError(
            f"--affinities {wanted}: the hints alone have {len(matches)} best matches for "
            f"{threads} threads; give at least that many, or 'hints'"
        )
    if extra >= len(others):
        return matches + others
    return matches + stratified(others, extra, seed)


def stratified(items: list[Affinity], count: int, seed: int) -> list[Affinity]:
    """One of each of `count` equal stretches of `items`, drawn with `seed`."""
    draw = random.Random(seed)
    edges = [len(items) * i // count for i in range(count + 1)]
    return [items[draw.randrange(a, b)] for a, b in itertools.pairwise(edges)]
