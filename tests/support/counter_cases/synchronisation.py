"""Locks, barriers, work units, turns on a PU."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import SAME_LLC, VICTIM


# Thread 0 takes the lock at once and lets it go: two atomics. Thread 1 tries while it is held, is
# woken, takes it and lets it go: three.
@case(
    VICTIM, 0, SAME_LLC, lock_acquisitions=(1, 1), lock_waits=(0, 1), atomics=(2, 3), await_waits=0
)
def a_lock_that_is_held_is_waited_for(t: Turns) -> None:
    t.builder.lock(0, 1)
    t.builder.compute(0, gap=50_000)
    t.builder.unlock(0, 1)
    t.builder.compute(1, gap=10_000)
    t.builder.lock(1, 1)
    t.builder.unlock(1, 1)


# Nobody waits for a lock that is free again: two atomics each.
@case(VICTIM, 0, SAME_LLC, lock_acquisitions=(1, 1), lock_waits=0, atomics=(2, 2))
def a_lock_that_is_free_is_taken(t: Turns) -> None:
    t.builder.lock(0, 1)
    t.builder.unlock(0, 1)
    t.builder.compute(1, gap=50_000)
    t.builder.lock(1, 1)
    t.builder.unlock(1, 1)


# Two barriers: the first to arrive waits, the last does not. Each arrival is one atomic.
@case(VICTIM, 0, SAME_LLC, barrier_waits=(1, 1), atomics=(2, 2))
def all_but_the_last_wait_at_a_barrier(t: Turns) -> None:
    t.builder.compute(0, gap=50_000)
    t.builder.barrier(0, 1, 2)
    t.builder.barrier(0, 1, 2)
    t.builder.barrier(1, 1, 2)
    t.builder.compute(1, gap=50_000)
    t.builder.barrier(1, 1, 2)


# A token that is there already is not waited for.
@case(VICTIM, 0, SAME_LLC, await_waits=0)
def a_token_that_has_been_posted_is_not_waited_for(t: Turns) -> None:
    t.builder.post(0, 1)
    t.builder.compute(1, gap=50_000)
    t.builder.wait(1, 1)


# Four equal units, three of them captured in thread 0: each of two threads carries out two.
@case(VICTIM, 0, SAME_LLC, units_executed=(2, 2))
def work_units_go_to_whoever_is_free(t: Turns) -> None:
    for unit, thread in enumerate((0, 0, 0, 1)):
        t.builder.unit_begin(thread, 1, unit)
        t.builder.compute(thread, gap=50_000)
        t.builder.unit_end(thread, 1, unit)


# Two threads on one PU, in slices of 100 us: thread 0 computes 150,000 clocks, thread 1 50,000.
# 0 runs 100,000; to 1 (switch); 1 runs to its end; back to 0 (switch). A switch takes 2,000
# clocks. The one waits while the other runs; a switch is part of the wait.
@case(
    VICTIM,
    0,
    0,
    context_switches=(1, 1),
    cycles=(150_000, 50_000),
    cpu_clocks_halted=(54_000, 102_000),
    stall_cycles_sync=0,
)
def threads_of_one_pu_take_turns(t: Turns) -> None:
    t.builder.compute(0, gap=150_000)
    t.builder.compute(1, gap=50_000)
