"""One core, its L1, its L2 and the LLC. All lines used lie in one page: sets by the low bits."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import INCLUSIVE, NO_L2, SAME_LLC, VICTIM

NOTHING_THERE = {
    "data_cache_misses": 1,
    "data_cache_refills_from_l2": 0,
    "data_cache_refills_from_northbridge": 1,
    "l2_accesses": 1,
    "l2_misses": 1,
    "llc_requests": 1,
    "llc_hits": 0,
    "llc_misses": 1,
    "invalid_data_cache_lines_evicted": 0,
    "clean_data_cache_lines_evicted": 0,
    "modified_data_cache_lines_evicted": 0,
}


@case(VICTIM, 0, **NOTHING_THERE, llc_read_requests=1, llc_modify_requests=0, dram_reads_local=1)
def a_first_load_misses_everywhere(t: Turns) -> None:
    t.load(0, 0)


@case(VICTIM, 0, **NOTHING_THERE, llc_read_requests=0, llc_modify_requests=1, dram_reads_local=1)
def a_first_store_misses_everywhere_and_asks_for_ownership(t: Turns) -> None:
    t.store(0, 0)


# Granted exclusive by the load, modified without a request: nobody else has it.
@case(VICTIM, 0, data_cache_misses=1, llc_requests=1, upgrades=0)
def a_store_after_a_load_hits(t: Turns) -> None:
    t.load(0, 0)
    t.store(0, 0)
    t.load(0, 0)


# Lines 0, 2, 4 share L1 set 0 of two ways. Line 4 pushes out 0, which is clean; line 0 comes back
# from the L2 and pushes out 2, which is modified.
@case(
    VICTIM,
    0,
    data_cache_misses=4,
    data_cache_refills_from_l2=1,
    data_cache_refills_from_northbridge=3,
    clean_data_cache_lines_evicted=1,
    modified_data_cache_lines_evicted=1,
    l2_accesses=4,
    l2_misses=3,
    l2_evictions=0,
)
def what_falls_out_of_the_l1_is_in_the_l2(t: Turns) -> None:
    t.load(0, 0)
    t.update(0, 2)
    t.load(0, 4, 0)


# Line 0 is used again before 4 comes, so 2 is the one to go.
@case(VICTIM, 0, data_cache_misses=3, data_cache_refills_from_l2=0)
def the_least_recently_used_way_is_the_victim(t: Turns) -> None:
    t.load(0, 0, 2, 0, 4, 0)


# Lines 0, 4, ... 16 share L1 set 0 and L2 set 0, two ways each: exclusive, so four lines fit. The
# fifth load pushes line 0 out of the core into the victim LLC. Line 0 then hits there and pushes
# line 4 out of the core.
@case(
    VICTIM,
    0,
    l2_misses=6,
    l2_evictions=2,
    l2_writebacks=0,
    llc_requests=6,
    llc_hits=1,
    llc_misses=5,
    llc_evictions=0,
    clean_data_cache_lines_evicted=4,
    dram_reads_local=5,
)
def what_falls_out_of_the_l2_is_in_the_victim_llc(t: Turns) -> None:
    t.load(0, 0, 4, 8, 12, 16, 0)


# Lines 0, 8, ... 48 share set 0 of all three levels: 2 + 2 + 2 of the seven fit. The fifth, sixth
# and seventh store each push a line out of the core; the third of these, line 16, pushes line 0
# out of the LLC. All are modified.
@case(
    VICTIM,
    0,
    modified_data_cache_lines_evicted=5,
    l2_evictions=3,
    l2_writebacks=3,
    llc_evictions=1,
    llc_writebacks=1,
    dram_writes=1,
)
def what_falls_out_of_the_llc_is_written_to_memory_when_modified(t: Turns) -> None:
    t.store(0, 0, 8, 16, 24, 32, 40, 48)


# The same, clean.
@case(VICTIM, 0, llc_evictions=1, llc_writebacks=0, dram_writes=0, l2_evictions=3)
def a_clean_line_falls_out_of_the_llc_without_a_write(t: Turns) -> None:
    t.load(0, 0, 8, 16, 24, 32, 40, 48)


# Lines 0, 4, 8 share L2 set 0 of two ways: line 8 pushes line 0 out of the L2 and, inclusive, out
# of the L1, before the L1 has to choose. Line 0 is still in the inclusive LLC (sets 0, 4, 0) and
# pushes out line 4.
@case(
    INCLUSIVE,
    0,
    data_cache_misses=4,
    data_cache_refills_from_l2=0,
    clean_data_cache_lines_evicted=0,
    l2_evictions=2,
    llc_hits=1,
    llc_evictions=0,
    dram_reads_local=3,
)
def an_inclusive_l2_takes_its_lines_out_of_the_l1(t: Turns) -> None:
    t.load(0, 0, 4, 8, 0)


# Lines 0, 8, 16 share LLC set 0 of two ways. Core 0 has stored to line 0; when the other core of
# the domain loads lines 8 and 16, the LLC drops line 0, takes it out of core 0 and writes it to
# memory. Core 0 finds its own tag, invalid, and misses; the line comes from memory again.
@case(
    INCLUSIVE,
    0,
    SAME_LLC,
    llc_evictions=(1, 1),  # line 8 goes for line 0
    llc_writebacks=(0, 1),
    dram_writes=(0, 1),
    dram_reads_local=(2, 2),
    coherence_misses=(1, 0),
    invalid_data_cache_lines_evicted=(1, 0),
    invalidations_received=0,  # it was no other core's store
)
def an_inclusive_llc_takes_its_lines_out_of_the_cores(t: Turns) -> None:
    t.store(0, 0)
    t.load(1, 8, 16)
    t.load(0, 0)


# The other core of the domain loads three lines and stores to a fourth; thread 0 loads one.
@case(
    VICTIM,
    0,
    SAME_LLC,
    llc_read_requests=(1, 3),
    llc_modify_requests=(0, 1),
    read_requests_to_llc_any_core=(5, 5),
    exclusive_read_requests_to_llc_any_core=(4, 4),
    modify_read_requests_to_llc_any_core=(1, 1),
)
def requests_of_any_core_are_those_of_the_whole_domain(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 1, 2, 3)
    t.store(1, 4)


# Lines 0, 2 and 4 share set 0 of the L1: the third pushes line 0 into the LLC, where the last load
# finds it while line 2 takes its place.
@case(
    NO_L2,
    0,
    data_cache_misses=4,
    data_cache_refills_from_l2=0,
    data_cache_refills_from_northbridge=4,
    l2_accesses=0,
    l2_misses=0,
    l2_evictions=2,
    llc_requests=4,
    llc_hits=1,
    llc_misses=3,
)
def without_an_l2_the_l1_spills_into_the_llc(t: Turns) -> None:
    t.load(0, 0, 2, 4, 0)


# Lines 0, 8 and 16 share set 0 of the inclusive LLC: the third throws line 0 out, and core 0 with
# it.
@case(
    INCLUSIVE,
    0,
    SAME_LLC,
    back_invalidations=(0, 1),
    llc_evictions=(0, 1),
    invalidations_sent=0,
)
def what_leaves_an_inclusive_llc_leaves_its_cores(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 8, 16)


# The same for a written line: the LLC's copy is written to memory with core 0's data.
@case(INCLUSIVE, 0, SAME_LLC, back_invalidations=(0, 1), llc_writebacks=(0, 1), dram_writes=(0, 1))
def what_leaves_an_inclusive_llc_is_written_if_a_core_wrote_it(t: Turns) -> None:
    t.store(0, 0)
    t.load(1, 8, 16)


# Core 0 writes line 0 and lets it go: lines 4 and 8 share its set 0 of the L2. Core 1 only reads
# it, and lets it go in the same way: nothing to write back there.
@case(INCLUSIVE, 0, SAME_LLC, l2_evictions=(1, 1), l2_writebacks=(1, 0), dram_writes=0)
def a_line_that_is_dirty_in_the_llc_is_clean_in_the_core_that_reads_it(t: Turns) -> None:
    t.store(0, 0)
    t.load(0, 4, 8)
    t.load(1, 0)
    t.load(1, 12, 20)
