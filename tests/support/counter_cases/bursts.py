"""Runs and chains of accesses, and what is interrupted, or moved, before it is over."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import SAME_LLC, SAME_PACKAGE, VICTIM
from sim_programs import BASE, DEPENDENT, FIRST_WRITE, LINES_PER_PAGE


# Thread 0's line of its own is there at 821 (fault 700, walk 20, memory 100), 50 instructions after
# it was asked for; at 4770 the run of 50 stores begins, at 5260 it would be over. Its loads of that
# line need no order and could run ahead of the store at 5100, which takes the rest of the run away.
@case(
    VICTIM,
    0,
    SAME_LLC,
    coherence_misses=(1, 0),
    cache_to_cache_transfers_same_llc=(1, 1),
    data_cache_stores=(50, 1),
)
def a_run_is_interrupted_although_its_thread_could_run_ahead_with_lines_of_its_own(
    t: Turns,
) -> None:
    t.load(0, 1)
    t.builder.compute(0, gap=3999)
    t.builder.access(0, BASE, reads=0, writes=50, gap=0, span=490, flags=FIRST_WRITE)
    for _ in range(1000):
        t.builder.access(0, BASE + 1)
    t.builder.compute(1, gap=5100)
    t.builder.access(1, BASE, reads=0, writes=1, gap=0, flags=FIRST_WRITE)


# Ten runs of thread 0 are under way at once when thread 1 takes their lines, one after the other.
@case(VICTIM, 0, SAME_LLC, cache_to_cache_transfers_same_llc=(10, 10), data_cache_stores=(500, 10))
def every_run_under_way_is_interrupted(t: Turns) -> None:
    t.builder.compute(0, gap=4000)
    for line in range(10):
        t.builder.access(0, BASE + line, reads=0, writes=50, gap=1, span=490, flags=FIRST_WRITE)
    t.builder.compute(0, gap=1000)
    t.builder.compute(1, gap=5200)
    for line in range(10):
        t.builder.access(1, BASE + line, reads=0, writes=1, gap=1, flags=FIRST_WRITE)


# Moved after 1,000 clocks, from core 0 to core 7 and back: 5 us on the way each time.
@case(
    VICTIM,
    0,
    migrations=2,
    cycles=10_000,
    cpu_clocks_halted=10_000,
    steer=lambda run: (run.advance(1000), run.bind(0, 7), run.advance(6000), run.bind(0, 0)),
)
def a_thread_that_is_bound_elsewhere_migrates(t: Turns) -> None:
    t.builder.compute(0, gap=10_000)


# After 2000 clocks both threads have page 0 in their TLBs; it moves to node 3, and both walk again.
@case(
    VICTIM,
    0,
    SAME_PACKAGE,
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


# 3 + 2 loads and 2 + 4 stores in three runs; 10 instructions from one run to the next.
@case(
    VICTIM,
    0,
    instructions=30,
    data_cache_loads=5,
    data_cache_stores=6,
    data_cache_accesses=11,
    dtlb_accesses=11,
)
def every_access_of_a_run_is_counted(t: Turns) -> None:
    t.builder.access(0, BASE, reads=3, writes=2, gap=10)
    t.builder.access(0, BASE, reads=2, writes=0, gap=10)
    t.builder.access(0, BASE, reads=0, writes=4, gap=10)


# The load's value is needed by the next event, one instruction later: of the 100 clocks to the own
# node's memory one is hidden.
@case(VICTIM, 0, stall_cycles_memory=99, cycles=101, instructions=2)
def a_load_that_the_next_instruction_needs_stalls_for_all_but_that_instruction(t: Turns) -> None:
    t.load(0, 0)
    t.begin()
    t.builder.access(0, BASE + 1, gap=1, flags=DEPENDENT)
    t.end()


# The window holds 50 instructions: those after the load take 50 of the 100 clocks.
@case(VICTIM, 0, stall_cycles_memory=50, cycles=1 + 200 + 1 + 50)
def a_load_that_nothing_needs_stalls_when_the_window_is_full(t: Turns) -> None:
    t.load(0, 0)
    t.begin()
    t.load(0, 1)
    t.builder.compute(0, gap=200)
    t.end()
