"""Hits, misses and write-backs of one core are pycachesim's on the same addresses.

pycachesim (RRZE Erlangen) is an independent cache simulator. Its counts are in
`tests/golden/pycachesim.json`, made by `scripts/tools/golden_pycachesim.py`, and compared with the
program itself where it is installed.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from address_streams import EXACT, Stream, hot_and_cold, uniform_stores, uniform_updates
from hand_machine import INCLUSIVE, VICTIM
from pycachesim_counts import GEOMETRY, golden
from reference_caches import InclusiveCore, Lru
from single_core import run_stream, with_caches

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "pycachesim.json").read_text())

EVENTS = {
    "L1": {
        "misses": "data_cache_misses",
        "written_back": "modified_data_cache_lines_evicted",
    },
    "L2": {
        "hits": "data_cache_refills_from_l2",
        "misses": "l2_misses",
        "written_back": "l2_writebacks",
    },
    "L3": {"hits": "llc_hits", "misses": "llc_misses", "written_back": "llc_writebacks"},
}
"""The hits of its L1 do not count stores; ours have no event of their own."""

SHAPES = tuple(GEOMETRY.values())


@pytest.mark.parametrize("make", EXACT, ids=lambda make: make.__name__)
def test_every_count_of_three_inclusive_levels_is_pycachesims(make: Callable[[], Stream]) -> None:
    result = run_stream(with_caches(INCLUSIVE, *SHAPES), make())
    expected = GOLDEN["counts"][make.__name__]
    for level, events in EVENTS.items():
        ours = {count: result.total(event) for count, event in events.items()}
        assert ours == {count: expected[level][count] for count in events}, level


def test_a_line_modified_in_the_l2_is_modified_in_the_l1_here_and_clean_in_pycachesim() -> None:
    expected = GOLDEN["counts"]["uniform_updates"]
    result = run_stream(with_caches(INCLUSIVE, *SHAPES), uniform_updates())
    for level, events in EVENTS.items():
        for count in ("hits", "misses", "written_back"):
            if count in events and (level, count) != ("L1", "written_back"):
                assert result.total(events[count]) == expected[level][count], (level, count)
    # With the same rule, the reference gives the counts of either.
    written_back = []
    for clean_refills in (False, True):
        reference = InclusiveCore(*SHAPES)
        reference.clean_refills = clean_refills
        for line, store in uniform_updates():
            reference.access(line, store)
        written_back.append(reference.counts["modified_data_cache_lines_evicted"])
    ours = result.total("modified_data_cache_lines_evicted")
    assert [ours, expected["L1"]["written_back"]] == written_back


def test_a_store_that_hits_is_a_use_of_the_line_here_and_not_in_pycachesim() -> None:
    # With the same rule, an LRU list of the L1 gives the counts of either.
    def misses(store_is_a_use: bool) -> int:
        lru, count = Lru(*GEOMETRY["L1"]), 0
        for line, store in uniform_stores():
            count += line not in lru
            if line not in lru or not store or store_is_a_use:
                lru.use(line)
        return count

    ours = run_stream(with_caches(VICTIM, *SHAPES), uniform_stores()).total("data_cache_misses")
    theirs = GOLDEN["counts"]["uniform_stores"]["L1"]["misses"]
    assert (ours, theirs) == (misses(True), misses(False))
    assert ours != theirs


def test_what_an_inclusive_l2_takes_out_of_the_l1_pycachesim_leaves_there() -> None:
    theirs = GOLDEN["counts"]["hot_and_cold"]["L1"]["misses"]
    apart = run_stream(with_caches(VICTIM, *SHAPES), hot_and_cold())
    assert apart.total("data_cache_misses") == theirs
    reference = InclusiveCore(*SHAPES)
    for line, store in hot_and_cold():
        reference.access(line, store)
    inclusive = run_stream(with_caches(INCLUSIVE, *SHAPES), hot_and_cold())
    assert inclusive.total("data_cache_misses") == reference.counts["data_cache_misses"] > theirs


def test_the_golden_counts_are_those_of_the_installed_pycachesim() -> None:
    if importlib.util.find_spec("cachesim") is None:
        pytest.skip("pycachesim is not installed; its recorded counts were compared")
    made = golden()
    assert made["counts"] == GOLDEN["counts"]
    assert GOLDEN["sets and ways"] == {level: list(shape) for level, shape in GEOMETRY.items()}
