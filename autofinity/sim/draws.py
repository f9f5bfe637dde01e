"""Variants of a machine that the same sources could describe: a preset with random numbers.

A model is never right to the last nanosecond. Knowledge that is learned on one variant and holds on
another does not depend on the exact numbers of the preset. Each number below is multiplied by a
random factor of its own; one factor for a whole table by distance keeps the table's order. The seed
of each run chooses the page colours, as always.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields, replace

from autofinity.sim.spec import (
    LINE_BYTES,
    MOST_MISSES_IN_FLIGHT,
    BandwidthSpec,
    CacheSpec,
    CoreClassSpec,
    CoreSpec,
    LatencySpec,
    MachineSpec,
    PrefetchSpec,
    SystemSpec,
)

SPREAD = 0.20
"""Half-width of the range of factors, which are uniform from 1 - SPREAD to 1 + SPREAD."""

type Factor = Callable[[], float]


def drawn(spec: MachineSpec, seed: int, spread: float = SPREAD) -> MachineSpec:
    """A random variant of the machine `spec`; the same for the same seed.

    The random numbers are latencies, overlap of misses, bandwidths, system times and the number of
    ways in which caches replace (their sets stay).
    """
    draw = random.Random(f"{spec.name} {seed}")

    def factor() -> float:
        return draw.uniform(1 - spread, 1 + spread)

    return replace(
        spec,
        core_classes=tuple(_cores(each, factor) for each in spec.core_classes),
        llc=_cache(spec.llc, factor),
        latency=_latencies(spec.latency, factor),
        bandwidth=_bandwidths(spec.bandwidth, factor),
        system=_system(spec.system, factor),
    )


def shrunk(spec: MachineSpec, by: int) -> MachineSpec:
    """The machine with one in `by` of the sets of its L2s and LLCs, for inputs smaller by the same
    factor.
    """

    def fewer(cache: CacheSpec) -> CacheSpec:
        return replace(cache, size_bytes=max(1, cache.sets // by) * cache.ways * LINE_BYTES)

    classes = tuple(
        replace(cores, l2=None if cores.l2 is None else fewer(cores.l2))
        for cores in spec.core_classes
    )
    return replace(spec, core_classes=classes, llc=fewer(spec.llc))


def _whole(value: int, factor: Factor) -> int:
    return max(1, round(value * factor()))


def _cache(cache: CacheSpec, factor: Factor) -> CacheSpec:
    ways = _whole(cache.ways, factor)
    return replace(
        cache,
        ways=ways,
        size_bytes=cache.size_bytes // cache.ways * ways,
        latency_ns=cache.latency_ns * factor(),
    )


def _cores(cores: CoreClassSpec, factor: Factor) -> CoreClassSpec:
    tlb = cores.tlb
    return replace(
        cores,
        l2=None if cores.l2 is None else _cache(cores.l2, factor),
        core=_overlap(cores.core, factor),
        tlb=replace(tlb, l2_hit_ns=tlb.l2_hit_ns * factor(), walk_ns=tlb.walk_ns * factor()),
        prefetch=None if cores.prefetch is None else _prefetch(cores.prefetch, factor),
    )


def _overlap(core: CoreSpec, factor: Factor) -> CoreSpec:
    misses_in_flight = min(_whole(core.misses_in_flight, factor), MOST_MISSES_IN_FLIGHT)
    window = _whole(core.window, factor)
    smt_window = core.smt_window
    if smt_window is not None:  # the same part of it
        smt_window = max(1, smt_window * window // core.window)
    return replace(core, misses_in_flight=misses_in_flight, window=window, smt_window=smt_window)


def _prefetch(prefetch: PrefetchSpec, factor: Factor) -> PrefetchSpec:
    return replace(
        prefetch,
        distance_lines=_whole(prefetch.distance_lines, factor),
        lines_in_flight=_whole(prefetch.lines_in_flight, factor),
    )


def _latencies(latency: LatencySpec, factor: Factor) -> LatencySpec:
    changed: dict[str, object] = {}
    for field in fields(latency):
        value, by = getattr(latency, field.name), factor()
        changed[field.name] = (
            tuple(ns * by for ns in value) if isinstance(value, tuple) else value * by
        )
    return LatencySpec(**changed)  # type: ignore[arg-type]


def _bandwidths(bandwidth: BandwidthSpec, factor: Factor) -> BandwidthSpec:
    memory, links, around_llcs = factor(), factor(), factor()
    return replace(
        bandwidth,
        memory_gbs=tuple(gbs * memory for gbs in bandwidth.memory_gbs),
        links=tuple(replace(link, gbs=link.gbs * links) for link in bandwidth.links),
        fabric_gbs=bandwidth.fabric_gbs * around_llcs,
        fabric_write_gbs=bandwidth.fabric_write_gbs * around_llcs,
        llc_gbs=bandwidth.llc_gbs * around_llcs,
    )


def _system(system: SystemSpec, factor: Factor) -> SystemSpec:
    return replace(system, spin_us=system.spin_us * factor(), wake_us=system.wake_us * factor())
