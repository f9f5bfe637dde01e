"""Cores 0 and 1 share an L2, core 2 has one alone; all three have the same LLC."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import SHARED_L2

SIBLING, OTHER_L2 = 1, 2


# Core 0's M becomes S in both L1s, and M in the L2: nobody outside hears of it.
@case(
    SHARED_L2,
    0,
    SIBLING,
    data_cache_misses=(0, 1),
    data_cache_refills_from_l2=(0, 1),
    l2_misses=0,
    downgrades_received=(1, 0),
    probe_responses_dirty=(1, 0),
    llc_requests=0,
    cache_to_cache_transfers_same_llc=0,
    dram_writes=0,
)
def a_load_finds_what_the_sibling_modified_in_the_shared_l2(t: Turns) -> None:
    t.store(0, 0)
    t.begin()
    t.load(1, 0)
    t.load(0, 0)
    t.end()


# There and back through the L2. Core 0 finds its own tag, invalid.
@case(
    SHARED_L2,
    0,
    SIBLING,
    data_cache_misses=(1, 1),
    data_cache_refills_from_l2=(1, 1),
    coherence_misses=(1, 0),
    invalid_data_cache_lines_evicted=(1, 0),
    invalidations_sent=(0, 1),
    invalidations_received=(1, 0),
    downgrades_received=(0, 1),
    probe_responses_dirty=(1, 1),
    upgrades=0,
    llc_requests=0,
)
def a_store_takes_the_line_from_the_siblings_l1(t: Turns) -> None:
    t.store(0, 0)
    t.begin()
    t.store(1, 0)
    t.load(0, 0)
    t.end()


# Both L1s have it S, the domain M: the L2 grants the store.
@case(
    SHARED_L2,
    0,
    SIBLING,
    data_cache_misses=0,
    upgrades=(1, 0),
    invalidations_sent=(1, 0),
    invalidations_received=(0, 1),
    probe_responses_clean=(0, 1),
    llc_requests=0,
)
def a_store_to_a_line_shared_within_the_l2_asks_no_directory(t: Turns) -> None:
    t.store(0, 0)
    t.load(1, 0)
    t.begin()
    t.store(0, 0)
    t.end()


# The same with a copy in another L2: the directory is asked, and all other copies go.
@case(
    SHARED_L2,
    0,
    SIBLING,
    OTHER_L2,
    upgrades=(1, 0, 0),
    llc_requests=(1, 0, 0),
    invalidations_sent=(2, 0, 0),
    invalidations_received=(0, 1, 1),
    probe_responses_clean=(0, 1, 1),
    probe_responses_dirty=0,
)
def a_store_to_a_line_that_other_l2s_have_asks_the_directory(t: Turns) -> None:
    t.store(0, 0)
    t.load(1, 0)
    t.load(2, 0)
    t.begin()
    t.store(0, 0)
    t.end()


# One line comes from the domain, which answers once; both of its L1s lose their copy.
@case(
    SHARED_L2,
    0,
    SIBLING,
    OTHER_L2,
    cache_to_cache_transfers_same_llc=(0, 0, 1),
    cache_to_cache_transfers_supplied=(1, 0, 0),
    invalidations_sent=(0, 0, 2),
    invalidations_received=(1, 1, 0),
    probe_responses_dirty=(1, 0, 0),
    probe_responses_clean=0,
)
def a_store_elsewhere_takes_the_line_from_every_l1_of_the_domain(t: Turns) -> None:
    t.store(0, 0)
    t.load(1, 0)
    t.begin(2)
    t.store(2, 0)
    t.end(2)


# Set 0 of the L2 has two ways. Core 1's second line pushes core 0's out of the L2 and so out of
# core 0's L1; its return pushes core 1's first one out. Both come to the victim LLC.
@case(
    SHARED_L2,
    0,
    SIBLING,
    l2_evictions=(1, 1),
    l2_writebacks=0,
    back_invalidations=(1, 1),
    coherence_misses=(1, 0),
    l2_misses=(1, 2),
    llc_hits=(1, 0),
    llc_misses=(0, 2),
    invalidations_sent=0,
)
def what_one_core_brings_into_the_l2_pushes_out_the_others_lines(t: Turns) -> None:
    t.load(0, 0)
    t.begin()
    t.load(1, 4, 8)
    t.load(0, 0)
    t.end()


# The only new copy is in core 0's L1 when the L2 gives the line up for core 1.
@case(
    SHARED_L2,
    0,
    SIBLING,
    l2_evictions=(0, 1),
    l2_writebacks=(0, 1),
    back_invalidations=(0, 1),
    dram_writes=0,
)
def a_line_that_leaves_the_shared_l2_takes_what_an_l1_stored(t: Turns) -> None:
    t.load(0, 0)
    t.store(0, 0)
    t.begin()
    t.load(1, 4, 8)
    t.end()


# Core 0 alone has room for eight lines: all of the L2, not a half of it.
@case(
    SHARED_L2,
    0,
    l2_misses=0,
    data_cache_misses=8,
    data_cache_refills_from_l2=8,
)
def a_core_alone_has_the_whole_l2(t: Turns) -> None:
    lines = range(8)
    t.load(0, *lines)
    t.begin()
    t.load(0, *lines)
    t.end()
