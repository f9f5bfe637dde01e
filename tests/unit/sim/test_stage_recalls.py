"""Lines that are taken back for want of room are missed from a private stage as they are in full.

A stage has no steps for what its thread finds in its own caches, whatever the placement; a full
directory or an inclusive LLC takes lines back all the same.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.preset import load_preset
from autofinity.sim.spec import DirectorySpec, MachineSpec
from tests.support.sim_programs import FIRST_WRITE, region, without_prefetch
from tests.support.staged import Counts, both_ways

MISSES = ("cycles", "data_cache_misses", "data_cache_refills_from_l2", "l2_misses", "llc_misses")
VICTIMS = ("clean_data_cache_lines_evicted", "modified_data_cache_lines_evicted")


def with_a_small_directory() -> MachineSpec:
    spec = load_preset("opteron-6164he")
    return replace(spec, directory=DirectorySpec(entries_per_node=32768, ways=4))


def with_a_small_llc() -> MachineSpec:
    spec = load_preset("xeon-x7550")
    assert spec.llc.inclusion == "inclusive"
    return replace(spec, llc=replace(spec.llc, size_bytes=1 << 20, ways=8))


def one_uses_what_another_needs_room_for(lines: int, rounds: int, *, writes: bool = False) -> Trace:
    """A thread goes round a few lines of its own, which its caches hold; another reads much memory
    of the same node."""
    builder = TraceBuilder()
    owner, reader = builder.stream(), builder.stream()
    own, much = region(-(-lines // 64))[:lines], region(500, 64)
    builder.roi_begin(owner)
    for line in own + much:
        builder.access(owner, line, reads=0, writes=1, gap=8, flags=FIRST_WRITE)
    for stream in (owner, reader):
        builder.barrier(stream, 1, 2)
    for number in range(rounds):
        for line in own:
            write = writes and number % 8 == 0
            builder.access(owner, line, reads=1, writes=int(write), gap=30)
    for _ in range(2):
        for line in much:
            builder.access(reader, line, reads=1, gap=30)
    for stream in (owner, reader):
        builder.barrier(stream, 2, 2)
    builder.roi_end(owner)
    return builder.build()


MACHINES = pytest.mark.parametrize(
    "spec",
    [
        pytest.param(with_a_small_directory(), id="directory"),
        pytest.param(with_a_small_llc(), id="llc"),
    ],
)


def agree(full: Counts, staged: Counts, events: tuple[str, ...]) -> None:
    for event in events:
        assert staged[event] == pytest.approx(full[event], rel=0.02, abs=20), event


def two_that_read_more_than_the_directory_knows(rounds: int = 2) -> Trace:
    """Two threads go through memory of their own, page after page, and fetch it ahead: what one
    fetches takes the place of what it has fetched before."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(2)]
    builder.roi_begin(streams[0])
    for i, stream in enumerate(streams):
        own = region(300, 400 * i)
        for line in own:
            builder.access(stream, line, reads=0, writes=1, gap=20, flags=FIRST_WRITE)
        builder.barrier(stream, 1, 2)
        for line in own * rounds:
            builder.access(stream, line, reads=1, gap=60)
        builder.barrier(stream, 2, 2)
    builder.roi_end(streams[0])
    return builder.build()


def lines_that_only_an_l2_has_when_they_are_taken_back() -> Trace:
    """A thread goes round more lines than its L1 holds, another reads much memory and then writes
    those lines, which the first reads again."""
    builder = TraceBuilder()
    owner, reader = builder.stream(), builder.stream()
    both, much = region(20), region(500, 64)
    builder.roi_begin(owner)
    for line in both + much:
        builder.access(owner, line, reads=0, writes=1, gap=8, flags=FIRST_WRITE)
    for stream in (owner, reader):
        builder.barrier(stream, 1, 2)
    for number in range(30):
        for line in both:
            builder.access(owner, line, reads=1, writes=int(number % 7 == 0), gap=30)
    for line in much:
        builder.access(reader, line, reads=1, gap=30)
    for stream in (owner, reader):
        builder.barrier(stream, 2, 2)
    for line in both:
        builder.access(reader, line, reads=1, writes=1, gap=30)
    for stream in (owner, reader):
        builder.barrier(stream, 3, 2)
    for line in both * 2:
        builder.access(owner, line, reads=1, gap=30)
    for stream in (owner, reader):
        builder.barrier(stream, 4, 2)
    builder.roi_end(owner)
    return builder.build()


@MACHINES
def test_what_would_have_been_hits_are_coherence_misses(spec: MachineSpec) -> None:
    near, far = both_ways(one_uses_what_another_needs_room_for(256, 2000), without_prefetch(spec))
    assert near[0]["coherence_misses"] > 200
    for full, staged in (near, far):
        agree(full, staged, ("coherence_misses", "invalid_data_cache_lines_evicted", *MISSES))


@MACHINES
def test_what_would_have_been_l2_hits_are_misses_of_it(spec: MachineSpec) -> None:
    trace = one_uses_what_another_needs_room_for(2048, 250)
    near, far = both_ways(trace, without_prefetch(spec))
    assert near[0]["back_invalidations"] > 9000
    for full, staged in (near, far):
        agree(full, staged, (*MISSES, *VICTIMS))


@MACHINES
def test_lines_that_come_back_are_clean_until_they_are_written(spec: MachineSpec) -> None:
    trace = one_uses_what_another_needs_room_for(2048, 250, writes=True)
    for full, staged in both_ways(trace, without_prefetch(spec)):
        agree(full, staged, (*MISSES, *VICTIMS, "llc_writebacks", "dram_writes"))


@MACHINES
def test_prefetchers_fetch_again_what_was_taken_back(spec: MachineSpec) -> None:
    for full, staged in both_ways(one_uses_what_another_needs_room_for(2048, 250), spec):
        agree(full, staged, ("prefetches_issued", "prefetches_useful", *MISSES, *VICTIMS))


def test_a_place_that_a_fetch_frees_is_there_for_what_it_brings() -> None:
    """Lines whose places in the directory are the same have the same set of the L2, too."""
    for full, staged in both_ways(
        two_that_read_more_than_the_directory_knows(), with_a_small_directory()
    ):
        assert full["back_invalidations"] > 1000
        for counts in (full, staged):  # what takes the place of a line in the L1
            for event in VICTIMS:
                del counts[event]
        assert staged == full


def test_what_only_the_l2_had_leaves_no_tag_in_the_l1() -> None:
    trace = lines_that_only_an_l2_has_when_they_are_taken_back()
    for full, staged in both_ways(trace, with_a_small_directory()):
        assert full["back_invalidations"] > 1000
        event = "invalid_data_cache_lines_evicted"
        assert staged[event] == pytest.approx(full[event], rel=0.05)
