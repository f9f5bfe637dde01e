"""The kinds of cores of a preset file: one at the top level, or several `[[core_class]]`."""

from __future__ import annotations

from functools import partial

from autofinity.sim.fields import Fields
from autofinity.sim.spec import (
    LINE_BYTES,
    CacheSpec,
    CoreClassSpec,
    CoreSpec,
    PrefetchSpec,
    TlbSpec,
)


def read_core_class(table: Fields, name: str) -> CoreClassSpec:
    """The keys `ghz`, `l1`, `l2`, `tlb`, `core` and `prefetch` of `table`."""
    ghz = table.number("ghz", 0.01, 100)
    l1 = _private(table.table("l1"), ghz, ())
    if l1.sets & (l1.sets - 1) or not 1 <= l1.sets <= 512:
        raise table.error("l1", f"{l1.sets} sets; expected a power of two of at most 512")
    l2_cores, l2 = table.optional("l2", partial(_l2, ghz)) or (1, None)
    return CoreClassSpec(
        name=name,
        ghz=ghz,
        l1=l1,
        l2=l2,
        tlb=_tlb(table.table("tlb"), ghz),
        core=_core(table.table("core")),
        prefetch=table.optional("prefetch", _prefetch),
        l2_cores=l2_cores,
    )


def read_llc(table: Fields) -> CacheSpec:
    """The table `llc`. Its latency has a clock of its own: it need not follow the cores."""
    size, ways = _size_and_ways(table)
    latency_ns = table.clocks_or_ns("latency")
    inclusion = table.text("inclusion", ("victim", "inclusive"))
    table.end()
    return CacheSpec(size, ways, latency_ns, inclusion)


def _l2(ghz: float, table: Fields) -> tuple[int, CacheSpec]:
    """How many cores share one, and what it is like."""
    cores = table.whole("cores", 1, 64, 1)
    l2 = _private(table, ghz, ("exclusive", "inclusive"))
    if cores > 1 and l2.inclusion != "inclusive":
        raise table.error(
            "inclusion", f"got an exclusive L2 of {cores} cores; expected inclusive, or one core"
        )
    return cores, l2


def _private(table: Fields, ghz: float, inclusions: tuple[str, ...]) -> CacheSpec:
    size, ways = _size_and_ways(table)
    latency_ns = table.number("latency_clocks", 0, 10_000) / ghz
    inclusion = table.text("inclusion", inclusions) if inclusions else ""
    table.end()
    return CacheSpec(size, ways, latency_ns, inclusion)


def _size_and_ways(table: Fields) -> tuple[int, int]:
    ways = table.whole("ways", 1, 128)
    return table.whole("size_bytes", ways * LINE_BYTES, 1 << 34), ways


def _tlb(table: Fields, ghz: float) -> TlbSpec:
    l1_entries = table.whole("l1_entries", 1, 254)
    l2_entries = table.whole("l2_entries", 0, 1 << 20)
    spec = TlbSpec(
        l1_entries=l1_entries,
        l1_ways=table.whole("l1_ways", 0, 128, 0),
        l2_entries=l2_entries,
        l2_ways=table.whole("l2_ways", 1, 128, 1 if l2_entries == 0 else None),
        l2_hit_ns=table.number("l2_hit_clocks", 0, 10_000, 0 if l2_entries == 0 else None) / ghz,
        walk_ns=table.number("walk_clocks", 0, 10_000) / ghz,
        page_fault_ns=table.number("page_fault_ns", 0, 1e9),
        l1_large_entries=table.whole("l1_large_entries", 1, 254, l1_entries),
        l2_large_entries=table.whole("l2_large_entries", 0, 1 << 20, 0),
        walk_reads_caches=table.flag("walk_reads_caches", False),
    )
    if spec.l1_ways and spec.l1_entries % spec.l1_ways:
        raise table.error("l1_entries", f"{spec.l1_entries} is no multiple of {spec.l1_ways} ways")
    if spec.l2_entries % spec.l2_ways:
        raise table.error("l2_entries", f"{spec.l2_entries} is no multiple of {spec.l2_ways} ways")
    table.end()
    return spec


def _core(table: Fields) -> CoreSpec:
    spec = CoreSpec(
        width=table.whole("width", 1, 64),
        base_ipc=table.number("base_ipc", 0.01, 64),
        misses_in_flight=table.whole("misses_in_flight", 1, 32),
        window=table.whole("window", 1, 100_000),
        uops_per_instruction=table.number("uops_per_instruction", 0.1, 10),
        smt_slowdown=table.number("smt_slowdown", 1, 16),
    )
    if spec.base_ipc > spec.width:
        raise table.error("base_ipc", f"got {spec.base_ipc:g}, above the width of {spec.width}")
    table.end()
    return spec


def _prefetch(table: Fields) -> PrefetchSpec:
    spec = PrefetchSpec(
        streams=table.whole("streams", 1, 64),
        trigger=table.whole("trigger", 1, 16),
        distance_lines=table.whole("distance_lines", 1, 64),
        degree=table.whole("degree", 1, 16),
        lines_in_flight=table.whole("lines_in_flight", 1, 256, 16),
    )
    table.end()
    return spec
