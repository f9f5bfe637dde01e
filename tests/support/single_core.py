"""A stream of addresses on one core, and machines with other caches."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sim_programs import BASE, FIRST_WRITE, cpus

from autofinity._core.trace import TraceBuilder
from autofinity.sim.replay import simulate
from autofinity.sim.result import SimResult
from autofinity.sim.spec import LINE_BYTES, CacheSpec, MachineSpec


def run_stream(spec: MachineSpec, accesses: Sequence[tuple[int, bool]]) -> SimResult:
    """Run one access for each element: line from BASE, and whether it is a store."""
    builder = TraceBuilder()
    stream = builder.stream()
    for line, store in accesses:
        flags = FIRST_WRITE if store else 0
        builder.access(stream, BASE + line, int(not store), int(store), gap=4, flags=flags)
    return simulate(spec, builder.build(), cpus(0))


def with_caches(
    spec: MachineSpec, l1: tuple[int, int], l2: tuple[int, int], llc: tuple[int, int]
) -> MachineSpec:
    def shaped(cache: CacheSpec, shape: tuple[int, int]) -> CacheSpec:
        size = shape[0] * shape[1] * LINE_BYTES
        return dataclasses.replace(cache, size_bytes=size, ways=shape[1])

    (cores,) = spec.core_classes
    assert cores.l2 is not None
    cores = dataclasses.replace(cores, l1=shaped(cores.l1, l1), l2=shaped(cores.l2, l2))
    return dataclasses.replace(spec, core_classes=(cores,), llc=shaped(spec.llc, llc))
