"""One line and several cores. `thread` 0 runs on core 0, the others at the distances named."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import (
    FILTERED,
    INCLUSIVE,
    ONE_HOP,
    SAME_LLC,
    SAME_PACKAGE,
    TWO_HOPS,
    VICTIM,
)
from sim_programs import BASE, FIRST_WRITE


# MOESI: the owner supplies the line, keeps it as O, and memory is not written.
@case(
    VICTIM,
    0,
    SAME_LLC,
    cache_to_cache_transfers_same_llc=(0, 1),
    cache_to_cache_transfers_same_package=0,
    cache_to_cache_transfers_remote=0,
    cache_to_cache_transfers_supplied=(1, 0),
    downgrades_received=(1, 0),
    probe_responses_dirty=(1, 0),
    probe_responses_clean=0,
    invalidations_sent=0,
    dram_writes=0,
    dram_reads_local=0,
    link_bytes=0,
)
def a_load_of_a_modified_line_leaves_it_owned_and_shared(t: Turns) -> None:
    t.store(0, 0)
    t.begin()
    t.load(1, 0)
    t.load(0, 0)
    t.end()


# MESI: M becomes S, and the inclusive LLC of the owner keeps the duty to write it back.
@case(
    INCLUSIVE,
    0,
    ONE_HOP,
    cache_to_cache_transfers_remote=(0, 1),
    downgrades_received=(1, 0),
    probe_responses_dirty=(1, 0),
    dram_writes=0,
)
def a_load_of_a_modified_line_leaves_it_to_an_inclusive_llc(t: Turns) -> None:
    t.store(0, 0)
    t.begin()
    t.load(1, 0)
    t.end()


# Exclusive, not modified: the probe finds a clean line.
@case(
    VICTIM,
    0,
    TWO_HOPS,
    cache_to_cache_transfers_remote=(0, 1),
    cache_to_cache_transfers_supplied=(1, 0),
    downgrades_received=(1, 0),
    probe_responses_clean=(1, 0),
    probe_responses_dirty=0,
    link_bytes=(0, 72),
)
def a_load_of_an_exclusive_line_comes_from_its_owner(t: Turns) -> None:
    t.load(0, 0)
    t.begin()
    t.load(1, 0)
    t.end()


# A line and its header, 72 bytes, there and back. Core 0 has lost the line when it loads it again:
# the refill goes into the way of the invalid line.
@case(
    VICTIM,
    0,
    SAME_PACKAGE,
    cache_to_cache_transfers_same_package=(1, 1),
    cache_to_cache_transfers_supplied=(1, 1),
    invalidations_sent=(0, 1),
    invalidations_received=(1, 0),
    probe_responses_dirty=(1, 1),
    downgrades_received=(0, 1),
    coherence_misses=(1, 0),
    data_cache_misses=(1, 1),
    invalid_data_cache_lines_evicted=(1, 0),
    llc_modify_requests=(0, 1),
    llc_read_requests=(1, 0),
    upgrades=0,
    link_bytes=(72, 72),
)
def a_store_takes_a_modified_line_away_and_its_owner_misses(t: Turns) -> None:
    t.store(0, 0)
    t.begin()
    t.store(1, 0)
    t.load(0, 0)
    t.end()


# Three cores of one die have the line: the first owns it (O), two share it. The store of the third
# asks for no data, only for the right to write: the O copy is dirty, the S copy clean.
@case(
    VICTIM,
    0,
    SAME_LLC,
    SAME_LLC + 1,
    upgrades=(0, 0, 1),
    llc_requests=(0, 0, 1),
    llc_modify_requests=(0, 0, 1),
    llc_read_requests=0,
    data_cache_misses=0,
    invalidations_sent=(0, 0, 2),
    invalidations_received=(1, 1, 0),
    probe_responses_dirty=(1, 0, 0),
    probe_responses_clean=(0, 1, 0),
    cache_to_cache_transfers_same_llc=0,
)
def a_store_to_a_shared_line_is_an_upgrade(t: Turns) -> None:
    t.store(0, 0)
    t.load(1, 0)
    t.load(2, 0)
    t.begin(2)
    t.store(2, 0)
    t.end(2)


# A load gets the line (the owner keeps it as O), the store then asks for ownership.
@case(
    VICTIM,
    0,
    ONE_HOP,
    cache_to_cache_transfers_remote=(0, 1),
    llc_requests=(0, 2),
    upgrades=(0, 1),
    invalidations_sent=(0, 1),
    atomics=0,
)
def a_load_and_a_store_of_anothers_line_are_a_transfer_and_an_upgrade(t: Turns) -> None:
    t.store(0, 0)
    t.begin(1)
    t.update(1, 0)
    t.end(1)


# An atomic asks for ownership at once.
@case(
    VICTIM,
    0,
    ONE_HOP,
    cache_to_cache_transfers_remote=(0, 1),
    llc_requests=(0, 1),
    upgrades=0,
    invalidations_sent=(0, 1),
    atomics=(0, 1),
)
def an_atomic_on_anothers_line_is_one_transfer(t: Turns) -> None:
    t.store(0, 0)
    t.begin(1)
    t.atomic(1, 0)
    t.end(1)


# S in two dies and no owner. Without clean forwarding a third die reads memory; a neighbour in the
# first die finds the line in a cache beside it.
@case(
    VICTIM,
    0,
    ONE_HOP,
    TWO_HOPS,
    SAME_LLC,
    dram_reads_remote=(0, 0, 1, 0),
    dram_reads_local=0,
    cache_to_cache_transfers_remote=0,
    cache_to_cache_transfers_same_llc=(0, 0, 0, 1),
    cache_to_cache_transfers_supplied=(1, 0, 0, 0),
    probe_responses_clean=(1, 0, 0, 0),
    downgrades_received=0,
)
def a_clean_line_of_another_die_comes_from_memory(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 0)
    t.begin(2)
    t.load(2, 0)
    t.load(3, 0)
    t.end(3)


# MESIF: the nearest LLC that has it, that of the other die in its package (cores 6 and 9 are
# neighbours), gives it to the third die; no core is asked.
@case(
    INCLUSIVE,
    0,
    ONE_HOP,
    TWO_HOPS,
    dram_reads_remote=0,
    cache_to_cache_transfers_same_package=(0, 0, 1),
    cache_to_cache_transfers_supplied=0,
    link_bytes=(0, 0, 72),
)
def a_clean_line_of_another_die_is_forwarded(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 0)
    t.begin(2)
    t.load(2, 0)
    t.end(2)


# Nobody else reads it, but three cores write their own part of the line in turn: every store after
# the first moves it.
@case(
    VICTIM,
    0,
    SAME_LLC,
    SAME_PACKAGE,
    cache_to_cache_transfers_same_llc=(0, 2, 0),
    cache_to_cache_transfers_same_package=(2, 0, 2),
    invalidations_sent=(2, 2, 2),
    invalidations_received=(2, 2, 2),
    coherence_misses=(2, 1, 1),
)
def false_sharing_moves_the_line_at_every_store(t: Turns) -> None:
    t.store(0, 0)
    t.begin()
    for _ in range(2):
        t.store(1, 0)
        t.store(2, 0)
        t.store(0, 0)
    t.end()


# Set 0 of node 0's directory has two entries: line 4 takes that of line 0, and core 0 loses it. Its
# next load misses, and takes the entry of line 2 from core 3.
@case(
    FILTERED,
    0,
    SAME_PACKAGE,
    directory_evictions=(1, 1),
    back_invalidations=(1, 1),
    coherence_misses=(1, 0),
    invalidations_sent=0,
    dram_writes=0,
)
def a_full_directory_recalls_a_line_for_another(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 2, 4)
    t.load(0, 0)


# Line 0 is modified: its recall writes it to memory. Line 1 has its entry in the other set.
@case(FILTERED, 0, directory_evictions=1, back_invalidations=1, dram_writes=1)
def a_recalled_line_is_written_to_memory_if_it_is_dirty(t: Turns) -> None:
    t.store(0, 0, 1)
    t.load(0, 2, 4)


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
