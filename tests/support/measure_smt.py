"""Work per time of threads on some PUs, to show the gain of a second thread on a core."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from measure_bandwidth import together
from sim_programs import (
    chase,
    cpus,
    first_touch,
    load_all,
    region,
    shuffled_in_pages,
    without_prefetch,
)

from autofinity._core.trace import TraceBuilder
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

PAGES = 256
INSTRUCTIONS = 1_000_000

type Access = Callable[[TraceBuilder, int, Sequence[int]], None]


def chased_lines_per_us(spec: MachineSpec, pus: Sequence[int]) -> float:
    """Rate of threads that each follow pointers through memory of their own."""
    return _lines_per_us(spec, pus, chase)


def loaded_lines_per_us(spec: MachineSpec, pus: Sequence[int]) -> float:
    """Rate of threads that each load from memory of their own in a random order that is known
    before.
    """
    return _lines_per_us(spec, pus, load_all)


def instructions_per_ns(spec: MachineSpec, pus: Sequence[int]) -> float:
    """Rate of threads that each compute in their registers."""
    trace = together(
        len(pus),
        lambda _builder, _stream: None,
        lambda builder, stream: builder.compute(stream, gap=INSTRUCTIONS),
    )
    return len(pus) * INSTRUCTIONS / simulate(spec, trace, cpus(*pus)).roi_ns


def _lines_per_us(spec: MachineSpec, pus: Sequence[int], access: Access) -> float:
    def lines(stream: int) -> list[int]:
        return shuffled_in_pages(region(PAGES, stream * 2 * PAGES))

    trace = together(
        len(pus),
        lambda builder, stream: first_touch(builder, stream, lines(stream)),
        lambda builder, stream: access(builder, stream, lines(stream)),
    )
    spec = without_prefetch(spec)
    result = simulate(spec, trace, cpus(*pus), page_policy="bind", bind_node=0)
    return len(pus) * PAGES * 64 * 1000 / result.roi_ns
