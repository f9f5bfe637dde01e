"""Selects the affinities of a thread count that are profiled."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence

from autofinity.affinity.enumerate import count_affinities, enumerate_affinities
from autofinity.affinity.hints import all_hints
from autofinity.model.affinity import Affinity
from autofinity.model.errors import UsageError
from autofinity.model.topology import Topology
from autofinity.profiling.placements import class_of
from autofinity.profiling.search import neighbours

FEW = 80
"""Largest number of affinities of which a screen has all."""
SCREEN = 40
"""Number of affinities in a screen of a larger set."""
_NEAR_SHARE = 0.75
"""Largest share of a screen for affinities one move away from a best match."""


def best_matches(topology: Topology, threads: int) -> list[Affinity]:
    """The distinct best matches of the eight hints, in the order of the hints."""
    found: dict[Affinity, None] = {}
    for cores in all_hints(topology, threads):
        found.setdefault(cores.affinity)
    return list(found)


def check_selection(wanted: str) -> None:
    """Raise `UsageError` unless `wanted` is one that `select` takes with enough best matches."""
    if wanted in ("all", "hints", "screen") or wanted.removeprefix("screen:").isdecimal():
        return
    raise UsageError(
        f"--affinities {wanted!r}: expected 'all', 'hints', a number, 'screen' or 'screen:' "
        "and a number"
    )


def check_size(topology: Topology, threads: int, wanted: str) -> None:
    """Raise the `UsageError` of `select`, without listing affinities."""
    check_selection(wanted)
    number = wanted.removeprefix("screen:")
    if number.isdecimal():
        _number(number, wanted, best_matches(topology, threads), threads)


def select(topology: Topology, threads: int, wanted: str, seed: int) -> list[Affinity]:
    """Affinities to profile, best matches first.

    `wanted`: `all`; `hints` (best matches only); a number: that many, the best matches and a random
    sample (`seed`) of others, spread evenly over the enumeration, which goes from packed to
    spread; `screen` or `screen:N`: all where there are at most `FEW`, else `SCREEN` (N) of
    `screen`. Raises `UsageError` for anything else, and for a number below the count of best
    matches.
    """
    check_selection(wanted)
    matches = best_matches(topology, threads)
    if wanted == "hints":
        return matches
    if wanted == "screen" or wanted.startswith("screen:"):
        size = SCREEN
        if wanted != "screen":
            size = _number(wanted.removeprefix("screen:"), wanted, matches, threads)
        if count_affinities(topology, threads) > FEW:
            return screen(topology, matches, size, seed)
        wanted = "all"
    others = [a for a in enumerate_affinities(topology, threads) if a not in set(matches)]
    if wanted == "all":
        return matches + others
    extra = _number(wanted, wanted, matches, threads) - len(matches)
    if extra >= len(others):
        return matches + others
    return matches + stratified(others, extra, seed)


def screen(topology: Topology, matches: Sequence[Affinity], size: int, seed: int) -> list[Affinity]:
    """The `size` most informative affinities.

    They are the best matches, affinities one move away from them, and, in equal parts, random
    samples (`seed`) of affinities two moves away and of random sets of cores.
    """
    draw = random.Random(seed)
    found = dict.fromkeys(matches)
    near = _new(found, (n for match in matches for n in neighbours(topology, match)))
    room = int(size * _NEAR_SHARE) - len(found)
    found |= dict.fromkeys(near if len(near) <= room else draw.sample(near, max(0, room)))
    far = _new(found, (n for each in near for n in neighbours(topology, each)))
    room = (size - len(found)) // 2
    found |= dict.fromkeys(far if len(far) <= room else draw.sample(far, room))
    for _ in range(100 * size):  # samples repeat where there are few other affinities
        if len(found) < size:
            found.setdefault(_drawn(topology, matches[0].threads, draw))
    return list(found)


def stratified(items: list[Affinity], count: int, seed: int) -> list[Affinity]:
    """One random item (`seed`) from each of `count` equal parts of `items`."""
    draw = random.Random(seed)
    edges = [len(items) * i // count for i in range(count + 1)]
    return [items[draw.randrange(a, b)] for a, b in itertools.pairwise(edges)]


def _drawn(topology: Topology, threads: int, draw: random.Random) -> Affinity:
    """The class of random cores in a random number of LLC domains, from one to all of them.

    With random cores of the whole machine, threads would nearly always be spread.
    """
    cores = [pu for pu in topology.pus if pu.smt_rank == 0 and pu.os_index in topology.allowed]
    domains = sorted({pu.llc for pu in cores})
    draw.shuffle(domains)
    for count in range(draw.randint(1, len(domains)), len(domains) + 1):
        inside = [pu.os_index for pu in cores if pu.llc in domains[:count]]
        if len(inside) >= threads:
            return class_of(topology, draw.sample(inside, threads))
    # More threads than cores: affinities differ in where the second PUs are used.
    return best_matches(topology, threads)[0]


def _new(known: dict[Affinity, None], found: Iterable[Affinity]) -> list[Affinity]:
    return [each for each in dict.fromkeys(found) if each not in known]


def _number(text: str, wanted: str, matches: Sequence[Affinity], threads: int) -> int:
    """Number of affinities that `wanted` asks for."""
    if int(text) < len(matches):
        raise UsageError(
            f"--affinities {wanted}: the hints alone have {len(matches)} best matches for "
            f"{threads} threads; give at least that many, or 'hints'"
        )
    return int(text)
