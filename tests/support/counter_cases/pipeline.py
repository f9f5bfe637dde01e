"""Instructions, clocks, and the clocks in which nothing issues."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import SAME_LLC, VICTIM
from sim_programs import BASE, DEPENDENT, LINES_PER_PAGE


# 600 + 400 instructions at one a clock and one and a half micro-operations each.
@case(VICTIM, 0, instructions=1000, retired_uops=1500, cycles=1000, cpu_clocks_halted=0)
def computing_takes_a_clock_an_instruction(t: Turns) -> None:
    t.builder.compute(0, gap=600)
    t.builder.compute(0, gap=400)


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


# Four misses can be in flight. Issued at clocks 1 to 4, they queue for the controller, 10 clocks a
# line, and are there at 101, 111, 121, 131. The fifth waits from clock 5 for the first to be
# there, finds the controller idle and takes another 100: it is there at 201. All is waited for at
# the end of the region, an instruction after the fifth has issued at clock 101.
@case(VICTIM, 0, stall_cycles_memory=(101 - 5) + (201 - 102), cycles=201)
def a_miss_beyond_those_in_flight_waits_for_the_oldest(t: Turns) -> None:
    t.load(0, 0)
    t.begin()
    t.load(0, 1, 2, 3, 4, 5)
    t.end()


# Thread 1 blocks at clock 1. The token is posted at clock 10,001 and takes the 80 clocks of a line
# within the LLC; a thread that waited more than 2 us sleeps and is woken 1 us later.
@case(
    VICTIM,
    0,
    SAME_LLC,
    await_waits=(0, 1),
    cpu_clocks_halted=(0, 10_001 + 80 + 1000 - 1),
    stall_cycles_sync=(0, 10_001 + 80 + 1000 - 1),
    cycles=(10_001, 1),
)
def a_thread_that_awaits_a_token_is_halted_until_it_is_woken(t: Turns) -> None:
    t.builder.compute(0, gap=10_000)
    t.builder.post(0, 1)
    t.builder.wait(1, 1)


# The kernel works on the core for the 700 clocks of a fault, and comes to it once all that was
# issued before is done: at clock 1 and, when a walk (20) and memory (100) are through, at 821.
@case(VICTIM, 0, page_faults=2, cycles=2 * (700 + 20 + 100) + 1, stall_cycles_memory=2 * 820 - 2)
def a_page_fault_overlaps_with_nothing(t: Turns) -> None:
    t.begin()
    t.load(0, 0, LINES_PER_PAGE)
    t.end()


# 1 + 5 units of work.
@case(VICTIM, 0, useful_work=6)
def heartbeats_tell_the_useful_work(t: Turns) -> None:
    t.builder.heartbeat(0, 1)
    t.builder.heartbeat(0, 5)
