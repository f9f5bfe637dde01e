"""Pages and TLBs. Pages 0, 1, ... are touched by a load of their first line."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import VICTIM
from sim_programs import LINES_PER_PAGE


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
