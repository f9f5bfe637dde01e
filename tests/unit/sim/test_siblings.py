"""Hardware threads of one core share its issue slots, its caches and its TLBs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hand_machine import VICTIM
from sim_programs import BASE, DEPENDENT, LINES_PER_PAGE, cpus
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
