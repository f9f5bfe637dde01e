"""Counts of pycachesim for the address streams. pycachesim is no dependency: it is imported when a
function is called.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from address_streams import EXACT, EXPLAINED, Stream

GEOMETRY = {"L1": (16, 4), "L2": (64, 8), "L3": (64, 32)}
"""Sets and ways. 64 sets are the lines of a page, so the address of a page does not matter."""

COUNTS = {"hits": "HIT_count", "misses": "MISS_count", "written_back": "EVICT_count"}


def count(stream: Stream) -> dict[str, dict[str, int]]:
    """Hits, misses and write-backs of each level. Raises ImportError without pycachesim."""
    from cachesim import Cache, CacheSimulator, MainMemory

    memory, below = MainMemory(), None
    for level in ("L3", "L2", "L1"):
        sets, ways = GEOMETRY[level]
        cache = Cache(level, sets, ways, 64, "LRU", load_from=below, store_to=below)
        if below is None:
            memory.load_to(cache)
            memory.store_from(cache)
        below = cache
    simulator = CacheSimulator(below, memory)
    for line, store in stream:
        (simulator.store if store else simulator.load)(line * 64, length=8)
    return {
        level["name"]: {ours: level[theirs] for ours, theirs in COUNTS.items()}
        for level in simulator.stats()
        if level["name"] in GEOMETRY
    }


def golden() -> dict[str, Any]:
    """The whole content of `tests/golden/pycachesim.json`."""
    return {
        "pycachesim": version("pycachesim"),
        "sets and ways": GEOMETRY,
        "counts": {make.__name__: count(make()) for make in (*EXACT, *EXPLAINED)},
    }
