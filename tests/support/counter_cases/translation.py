"""Pages and TLBs. Pages 0, 1, ... are touched by a load of their first line."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import ASSOCIATIVE_TLB, VICTIM, WALKING, with_pages
from sim_programs import BASE, LINES_PER_PAGE


def touch(t: Turns, pages: int) -> None:
    t.load(0, *(page * LINES_PER_PAGE for page in range(pages)))


# The first touch of a page: a fault, and a walk for the translation.
@case(VICTIM, 0, page_faults=3, dtlb_misses=3, page_walks=3, l2_tlb_hits=0, dtlb_accesses=3)
def a_first_touch_of_a_page_is_a_fault_and_a_walk(t: Turns) -> None:
    touch(t, 3)


# Four pages in four entries.
@case(VICTIM, 0, page_faults=0, dtlb_misses=0, dtlb_accesses=4)
def pages_that_the_first_tlb_holds_do_not_miss(t: Turns) -> None:
    touch(t, 4)
    t.begin()
    touch(t, 4)
    t.end()


# Five pages in turn: LRU throws each out of the four entries just before it is needed; the second
# level has two ways for each of its four sets, that is for eight pages in a row.
@case(VICTIM, 0, dtlb_misses=5, l2_tlb_hits=5, page_walks=0, page_faults=0)
def pages_that_only_the_second_tlb_holds_hit_there(t: Turns) -> None:
    touch(t, 5)
    t.begin()
    touch(t, 5)
    t.end()


# Twelve pages in turn: three for the two ways of every set.
@case(VICTIM, 0, dtlb_misses=12, l2_tlb_hits=0, page_walks=12, page_faults=0)
def pages_that_no_tlb_holds_are_walked_for(t: Turns) -> None:
    touch(t, 12)
    t.begin()
    touch(t, 12)
    t.end()


# Pages 0 to 7 fill the second level; pages 8 and 9 push 0 and 1 out of sets 0 and 1. Taken in
# turn, sets 0 and 1 hold three pages for two ways and always walk (0, 1, 4, 5, 8, 9); sets 2 and 3
# hold theirs (2, 3, 6, 7).
@case(VICTIM, 0, dtlb_misses=10, l2_tlb_hits=4, page_walks=6)
def every_set_of_the_second_tlb_is_a_cache_of_its_own(t: Turns) -> None:
    touch(t, 10)
    t.begin()
    touch(t, 10)
    t.end()


# Sets 0 and 1 of the first TLB have two ways: of the even pages 0, 2 and 4 each is thrown out
# before it is needed again; the odd page 1 stays.
@case(ASSOCIATIVE_TLB, 0, dtlb_misses=3, l2_tlb_hits=3, page_walks=0)
def a_set_of_the_first_tlb_can_be_too_small_for_its_pages(t: Turns) -> None:
    touch(t, 5)
    t.load(0, 1 * LINES_PER_PAGE)
    t.begin()
    t.load(0, *(page * LINES_PER_PAGE for page in (0, 2, 4, 1)))
    t.end()


# The entries of pages 0-2 share a line, which the first walk brings into the L2: three lines of
# data and one of the table are read from memory.
@case(WALKING, 0, page_walks=3, page_walk_misses=1, llc_requests=4, dram_reads_local=4)
def neighbouring_pages_share_a_line_of_the_page_table(t: Turns) -> None:
    touch(t, 3)


# Page 8 is the first of the next line of the table.
@case(WALKING, 0, page_walks=9, page_walk_misses=2, dram_reads_local=11)
def eight_pages_have_their_entries_in_one_line(t: Turns) -> None:
    touch(t, 9)


# The fault of core 0 wrote the entry: core 3 of the next die gets it from core 0's cache.
@case(
    WALKING,
    0,
    3,
    page_walk_misses=(0, 1),
    cache_to_cache_transfers_same_package=(0, 1),
    cache_to_cache_transfers_supplied=(1, 0),
    dram_reads_remote=(0, 1),
)
def a_walk_finds_the_entry_where_the_fault_left_it(t: Turns) -> None:
    t.load(0, 0)
    t.begin(1)
    t.load(1, 1)
    t.end(1)


# Four pages of 4 KiB in one of 16 KiB: two faults and translations for eight of them.
@case(with_pages(16 << 10), 0, page_faults=2, dtlb_misses=2, page_walks=2)
def a_16k_page_is_one_translation(t: Turns) -> None:
    touch(t, 8)


# 512 pages in one of 2 MiB.
@case(with_pages(2 << 20), 0, page_faults=2, dtlb_misses=2, page_walks=2)
def a_2m_page_is_one_translation(t: Turns) -> None:
    touch(t, 512)
    t.load(0, 512 * LINES_PER_PAGE)


# After 2000 clocks both threads have page 0 in their TLBs; it moves to node 3, and both walk again.
@case(
    VICTIM,
    0,
    3,
    steer=lambda run: (run.advance(2000), run.move_page(BASE // LINES_PER_PAGE, 3)),
    tlb_shootdowns=(1, 1),
    page_walks=(2, 2),
    dram_reads_remote=(1, 2),
)
def a_page_that_moves_is_forgotten_by_every_tlb(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 1)
    t.builder.compute(0, gap=10_000)
    t.builder.compute(1, gap=10_000)
    t.load(1, 1)
    t.load(0, 0)
