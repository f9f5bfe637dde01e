"""The stream prefetcher: two misses in a row, two lines a miss, at most two lines ahead."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import PREFETCHING, PREFETCHING_INTO_LLC, PREFETCHING_ONE_AT_A_TIME


# Line 1 is the second miss in a row: lines 2 and 3 are fetched. Line 2 hits the L2 and asks for 4
# (5 would be three ahead), line 3 hits and asks for 5. All six come from memory, once.
@case(
    PREFETCHING,
    0,
    prefetches_issued=4,
    prefetches_useful=2,
    prefetches_late=0,
    data_cache_misses=4,
    data_cache_refills_from_l2=2,
    l2_misses=2,
    llc_requests=6,
    llc_misses=6,
    dram_reads_local=6,
)
def lines_in_a_row_are_fetched_ahead_of_their_use(t: Turns) -> None:
    t.load(0, 0, 1, 2, 3, gap=1000)


# The same loads, a clock apart: lines 2 and 3 are wanted before they are there.
@case(PREFETCHING, 0, prefetches_issued=4, prefetches_useful=2, prefetches_late=2)
def a_line_that_is_wanted_while_it_is_on_its_way_is_late(t: Turns) -> None:
    t.load(0, 0, 1, 2, 3)


# Downwards: 62 is the second miss; 61 and 60 are fetched, then 59 with the use of 61.
@case(PREFETCHING, 0, prefetches_issued=3, prefetches_useful=1)
def a_stream_may_run_down(t: Turns) -> None:
    t.load(0, 63, 62, 61, gap=1000)


# Line 63 is the last of the page.
@case(PREFETCHING, 0, prefetches_issued=1, prefetches_useful=1)
def a_stream_ends_with_its_page(t: Turns) -> None:
    t.load(0, 61, 62, 63, gap=1000)


# Up, down, up: never two misses in one direction.
@case(PREFETCHING, 0, prefetches_issued=2, prefetches_useful=0)
def a_turn_starts_the_count_anew(t: Turns) -> None:
    t.load(0, 20, 30, 10, 40, gap=1000)


# Three pages in turn have only two streams: each first miss throws the oldest one away.
@case(PREFETCHING, 0, prefetches_issued=0, data_cache_misses=6)
def more_streams_than_there_are_train_nothing(t: Turns) -> None:
    t.load(0, 0, 64, 128, 1, 65, 129, gap=1000)


# As the first case, but lines 2 and 3 wait in the LLC.
@case(
    PREFETCHING_INTO_LLC,
    0,
    prefetches_issued=4,
    prefetches_useful=2,
    llc_requests=8,
    llc_hits=2,
    llc_misses=6,
    dram_reads_local=6,
)
def without_an_l2_the_llc_takes_what_is_fetched_ahead(t: Turns) -> None:
    t.load(0, 0, 1, 2, 3, gap=1000)


# Line 1 asks for 2; 3 must wait. Line 2, used a thousand clocks later, asks for 3, not yet for 4.
@case(PREFETCHING_ONE_AT_A_TIME, 0, prefetches_issued=2, prefetches_useful=1)
def no_more_lines_are_asked_for_than_can_be_on_their_way(t: Turns) -> None:
    t.load(0, 0, 1, 2, gap=1000)
