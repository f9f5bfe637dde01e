"""Bandwidth of an LLC domain in and out, and of its LLC to its cores."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hand_machine import SAME_LLC, SAME_PACKAGE, VICTIM
from sim_programs import cpus, first_touch, load_all, region, write_all

from autofinity._core.trace import TraceBuilder
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

LINE_CLOCKS = 100
"""Clocks of a line, which is so slow that nothing else is felt."""
GBS = 64 / LINE_CLOCKS


def narrow(**gbs: float) -> MachineSpec:
    return replace(VICTIM, bandwidth=replace(VICTIM.bandwidth, **gbs))


def handed_over_ns(spec: MachineSpec, reader: int) -> float:
    """Time of a load of each line that core 0 has just modified, by the core `reader`."""
    builder = TraceBuilder()
    writer, loader = builder.stream(), builder.stream()
    lines = region(1)[:8]  # they all fit the writer's caches
    write_all(builder, writer, lines)
    builder.post(writer, 1)
    builder.wait(loader, 1)
    builder.roi_begin(loader)
    load_all(builder, loader, lines, gap=0)
    builder.roi_end(loader)
    return simulate(spec, builder.build(), cpus(0, reader)).roi_ns / len(lines)


def test_lines_that_another_domain_supplies_leave_it_one_after_the_other() -> None:
    slow = narrow(fabric_write_gbs=GBS)
    assert handed_over_ns(slow, SAME_PACKAGE) > LINE_CLOCKS
    assert handed_over_ns(slow, SAME_LLC) == handed_over_ns(VICTIM, SAME_LLC) < LINE_CLOCKS


def test_what_comes_in_waits_for_room_when_too_much_is_on_its_way_out() -> None:
    def store_ns(spec: MachineSpec, pages: int) -> float:
        builder = TraceBuilder()
        stream = builder.stream()
        first_touch(builder, stream, region(pages))
        builder.roi_begin(stream)
        write_all(builder, stream, region(pages))
        builder.roi_end(stream)
        return simulate(spec, builder.build(), cpus(0)).roi_ns / (64 * pages)

    slow = narrow(fabric_write_gbs=GBS)
    assert store_ns(slow, 1) == store_ns(VICTIM, 1) < LINE_CLOCKS / 2  # in the buffers, all of it
    assert store_ns(slow, 40) == pytest.approx(LINE_CLOCKS, rel=0.05)


def test_an_llc_gives_its_cores_one_line_after_the_other() -> None:
    def load_ns(spec: MachineSpec) -> float:
        builder = TraceBuilder()
        stream = builder.stream()
        lines = region(1)[:20]  # more than L1 and L2 hold, and less than with the LLC
        for _ in range(3):
            load_all(builder, stream, lines, gap=0)
        builder.roi_begin(stream)
        for _ in range(50):
            load_all(builder, stream, lines, gap=0)
        builder.roi_end(stream)
        result = simulate(spec, builder.build(), cpus(0))
        assert result.total("llc_misses") <= len(lines) + 1
        return result.roi_ns / result.total("llc_hits")

    assert load_ns(VICTIM) < LINE_CLOCKS / 2
    assert load_ns(narrow(llc_gbs=GBS)) == pytest.approx(LINE_CLOCKS, rel=0.1)
