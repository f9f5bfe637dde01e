"""Hardware threads of one core share its issue slots, its caches and its TLBs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hand_machine import VICTIM
from mixed_program import mixed_program
from sim_programs import (
    BASE,
    DEPENDENT,
    LINES_PER_PAGE,
    chase,
    cpus,
    first_touch,
    load_all,
    region,
)
from thread_texts import written

from autofinity._core.trace import TraceBuilder
from autofinity.model.topology import OsIndex
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

SLOWDOWN = 1.5
SAME_CORE, OTHER_CORE = 12, 1


def with_siblings(spec: MachineSpec) -> MachineSpec:
    """A second PU for each of the twelve cores, numbered after all first ones."""
    first = spec.topology.pus
    second = tuple(
        replace(pu, os_index=OsIndex(pu.os_index + len(first)), smt_rank=1) for pu in first
    )
    pus = first + second
    allowed = frozenset(pu.os_index for pu in pus)
    kinds = tuple(
        replace(kind, core=replace(kind.core, smt_slowdown=SLOWDOWN)) for kind in spec.core_classes
    )
    return replace(
        spec, topology=replace(spec.topology, pus=pus, allowed=allowed), core_classes=kinds
    )


SMT = with_siblings(VICTIM)


@pytest.mark.parametrize("name", preset_names())
def test_two_threads_that_compute_have_the_share_that_the_machine_file_says(name: str) -> None:
    spec = load_preset(name)
    core = next((pu.core for pu in spec.topology.pus if pu.smt_rank == 1), None)
    if core is None:
        assert spec.core.smt_slowdown == 1
        return
    trace = written(*["compute 1_000_000"] * 2).build()
    pus = [pu.os_index for pu in spec.topology.pus if pu.core == core]
    alone = 1_000_000 / spec.core.base_ipc
    together = simulate(spec, trace, pus).of_workers("cycles")
    assert together == pytest.approx([alone * spec.core.smt_slowdown] * 2, rel=0.005)


def test_a_thread_is_slowed_down_only_as_long_as_its_sibling_runs() -> None:
    trace = written("compute 3_000_000", "compute 1_000_000").build()
    got = simulate(SMT, trace, cpus(0, SAME_CORE)).of_workers("cycles")
    shared = 1_000_000 * SLOWDOWN
    assert got == pytest.approx([shared + 2_000_000, shared], abs=2)


def test_a_thread_issues_at_full_speed_while_its_sibling_waits_for_memory() -> None:
    """A chase through memory issues an instruction a miss. Only for as long as that takes, one and
    a half clocks, both are slowed down, and the sibling does one instruction instead of one and a
    half.
    """
    computed, misses = 10_000, 50
    builder = TraceBuilder()
    computing, chasing = builder.stream(), builder.stream()
    builder.compute(computing, gap=computed)
    for line in range(misses):
        builder.access(chasing, BASE + line, flags=DEPENDENT)
    got = simulate(SMT, builder.build(), cpus(0, SAME_CORE))
    assert got.of_workers("cycles")[1] < computed  # the chase is over first
    slower = got.of_workers("cycles")[0] - computed
    kernel = 700  # of the one page fault: the core works for the chase
    assert slower == pytest.approx((misses + kernel / SLOWDOWN) * (SLOWDOWN - 1), abs=misses / 2)


def test_a_thread_issues_at_full_speed_while_its_sibling_waits_for_another_thread() -> None:
    trace = written("compute 100_000", "wait 1", "compute 200_000, post 1").build()
    got = simulate(SMT, trace, cpus(0, SAME_CORE, OTHER_CORE))
    assert got.of_workers("cycles")[0] == pytest.approx(100_000, abs=2)


@pytest.mark.parametrize(
    ("lines", "event"),
    [
        ((0, 2), "data_cache_misses"),  # two lines in the two ways of set 0
        ((0, 4, 2, 6), "l2_misses"),  # four lines in the six places of L1 and L2 for them
        ([page * LINES_PER_PAGE for page in range(3)], "dtlb_misses"),  # three of four entries
    ],
)
def test_siblings_share_what_would_do_for_one_of_them(lines: list[int], event: str) -> None:
    """Neither may run ahead with its own lines while the other has yet to begin."""
    rounds = 100
    builder = TraceBuilder()
    for thread in range(2):
        stream = builder.stream()
        for _ in range(rounds):
            for line in lines:
                builder.access(stream, BASE + 8 * LINES_PER_PAGE * thread + line, gap=10)
    apart = simulate(SMT, builder.build(), cpus(0, OTHER_CORE)).total(event)
    together = simulate(SMT, builder.build(), cpus(0, SAME_CORE)).total(event)
    assert apart <= 2 * len(lines)
    assert together > 0.4 * 2 * rounds * len(lines)


def with_parted_window(spec: MachineSpec, **parts: int | bool) -> MachineSpec:
    (cores,) = spec.core_classes
    return replace(spec, core_classes=(replace(cores, core=replace(cores.core, **parts)),))


def miss_ns(spec: MachineSpec, *lines_each: int) -> float:
    """Time that the first of the threads of one core takes for its misses."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in lines_each]
    for stream, lines in zip(streams, lines_each, strict=True):
        first_touch(builder, stream, region(1 + lines // LINES_PER_PAGE, 160 * stream))
        builder.barrier(stream, 1, len(streams))
    builder.roi_begin(streams[0])
    for stream, lines in zip(streams, lines_each, strict=True):
        load_all(builder, stream, region(160, 160 * stream)[:lines], gap=0)
    builder.roi_end(streams[0])
    return simulate(spec, builder.build(), cpus(0, SAME_CORE)[: len(streams)]).roi_ns


def test_a_sibling_that_has_nothing_to_run_changes_nothing() -> None:
    """Neither times nor counts: what was learned of one thread a core holds with SMT, too."""
    parted = with_parted_window(SMT, smt_window=10, smt_shares_misses=True)
    trace = mixed_program(rounds=200)
    without = simulate(VICTIM, trace, cpus(*range(8)))
    for spec in (SMT, parted):
        result = simulate(spec, trace, cpus(*range(8)))
        assert result.roi_ns == without.roi_ns
        assert result.totals.tobytes() == without.totals.tobytes()


def test_siblings_that_share_the_miss_buffers_have_half_of_them_each() -> None:
    own, shared = with_parted_window(SMT), with_parted_window(SMT, smt_shares_misses=True)
    alone = miss_ns(own, 1000)
    assert miss_ns(shared, 1000) == alone
    assert miss_ns(own, 1000, 1000) < 1.3 * alone
    assert miss_ns(shared, 1000, 1000) == pytest.approx(2 * alone, rel=0.05)
    assert miss_ns(shared, 1000, 9000) == pytest.approx(2 * alone, rel=0.05)  # the other goes on


def test_a_thread_may_use_the_miss_buffers_that_its_sibling_does_not() -> None:
    shared = with_parted_window(SMT, smt_shares_misses=True)
    builder = TraceBuilder()
    loading, computing = builder.stream(), builder.stream()
    first_touch(builder, loading, region(4))
    builder.barrier(loading, 1, 2)
    builder.barrier(computing, 1, 2)
    builder.roi_begin(loading)
    load_all(builder, loading, region(4)[:200], gap=0)
    builder.roi_end(loading)
    builder.compute(computing, gap=100_000)
    beside = simulate(shared, builder.build(), cpus(0, SAME_CORE)).roi_ns
    assert beside == pytest.approx(miss_ns(SMT, 200), rel=0.1)


def test_the_window_of_a_thread_is_the_smaller_one_as_long_as_its_sibling_has_a_stream() -> None:
    """Misses 30 instructions apart: a window of 50 overlaps two of them, and one of 20 none."""

    def load_ns(spec: MachineSpec, chased: int) -> float:
        builder = TraceBuilder()
        loading, chasing = builder.stream(), builder.stream()
        first_touch(builder, loading, region(4))
        first_touch(builder, chasing, region(10, 100))
        for stream in (loading, chasing):
            builder.barrier(stream, 1, 2)
        builder.compute(loading, gap=10_000)
        builder.roi_begin(loading)
        load_all(builder, loading, region(4)[:200], gap=30)
        builder.roi_end(loading)
        chase(builder, chasing, region(10, 100)[:chased])
        return simulate(spec, builder.build(), cpus(0, SAME_CORE)).roi_ns

    parted = with_parted_window(SMT, smt_window=20)
    assert load_ns(parted, 1) == load_ns(SMT, 1)  # the sibling is done before
    assert load_ns(parted, 600) > 1.4 * load_ns(SMT, 600)
