"""A thread that has moved to another cache, with its pages, ends as fast as one that started there.

Nothing evicts the dirty lines that the idle L2 and LLC still have of its data. A machine that asked
them at every read would stay slow for ever.
"""

from __future__ import annotations

from itertools import chain, groupby
from pathlib import Path

import pytest
from sim_programs import LINES_PER_PAGE, chase, kept, region, shuffled_in_pages, write_all

from autofinity._core.trace import TraceBuilder
from autofinity.model.memory import SMALL_PAGE_BYTES
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import BindThreads, MovePages, RunRequest, Sensors
from autofinity.profiling.placements import bound
from autofinity.sim.machine import SimMachine
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.spec import MachineSpec

REPEATS = 10_000
WARM_NS, TIMED_NS = 250, 100
"""For each line of a thread: both are some rounds over its data."""
WITHIN = 0.03


def of_llcs(topology: Topology) -> list[OsIndex]:
    """The first PU of each LLC."""
    return [next(pus).os_index for _, pus in groupby(topology.pus, key=lambda pu: pu.llc)]


def pages_of(spec: MachineSpec) -> int:
    """Pages of three times a core's share of an L2, but of half an LLC at most."""
    (kind, *_) = spec.core_classes
    share = (kind.l2 or kind.l1).size_bytes // kind.l2_cores
    return min(3 * share, spec.llc.size_bytes // 2) // SMALL_PAGE_BYTES


def written(spec: MachineSpec, folder: Path) -> str:
    """A thread writes its pages, then reads them again and again."""
    pages = pages_of(spec)
    builder = TraceBuilder()
    stream = builder.stream()
    write_all(builder, stream, region(pages))
    builder.roi_begin(stream)
    chase(builder, stream, shuffled_in_pages(region(pages)))
    builder.roi_end(stream)
    return kept(builder.build(), folder)


def rate(spec: MachineSpec, program: str, *places: OsIndex) -> float:
    """Instructions a nanosecond of a thread that has been in one place after the other, with all
    its pages, in the last one.
    """
    machine = SimMachine(spec)
    lines = pages_of(spec) * LINES_PER_PAGE
    process = machine.start(
        RunRequest(program=program, threads=1, repeats=REPEATS),
        bound((places[0],)),
        Sensors(("instructions",)),
        seed=1,
    )
    process.advance(WARM_NS * lines)
    for place in places[1:]:
        node = spec.topology.by_os_index[place].node
        nodes = range(spec.topology.n_nodes)
        pages = tuple(chain.from_iterable(p for each in nodes for p in process.pages_on(each)))
        process.apply([BindThreads(bound((place,))), MovePages(pages, (node,) * len(pages))])
        process.advance(WARM_NS * lines)
    seen = process.advance(TIMED_NS * lines)
    assert not seen.ended
    instructions = sum(sample.counts["instructions"] for sample in seen.samples)
    return instructions / (seen.end_ns - seen.start_ns)


@pytest.mark.parametrize("name", preset_names())
def test_a_thread_that_has_moved_is_as_fast_as_one_that_started_there(
    name: str, tmp_path: Path
) -> None:
    spec = load_preset(name)
    llcs = of_llcs(spec.topology)
    if len(llcs) < 2:
        pytest.skip("one last-level cache")
    program = written(spec, tmp_path / "written")
    there = rate(spec, program, llcs[-1])
    for left in {llcs[0], llcs[-2]}:
        moved = rate(spec, program, left, llcs[-1])
        assert moved == pytest.approx(there, rel=WITHIN), f"from CPU {left}"
