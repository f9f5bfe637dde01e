"""Random small programs and machines, and facts that hold for all of them."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st
from sim_programs import ATOMIC, BASE, DEPENDENT, FIRST_WRITE

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.preset import load_preset
from autofinity.sim.spec import (
    PAGE_BYTES,
    CacheSpec,
    CoreClassSpec,
    DirectorySpec,
    MachineSpec,
    PrefetchSpec,
)

PRESETS = ["opteron-6164he", "opteron-6386", "xeon-x7550", "xeon-e5-2650", "epyc-9654"]


def tiny_caches(spec: MachineSpec) -> MachineSpec:
    """The same machine with caches of a few lines, so that lines are evicted all the time."""

    def small(cache: CacheSpec, lines: int, ways: int) -> CacheSpec:
        return dataclasses.replace(cache, size_bytes=lines * 64, ways=ways)

    kinds = tuple(
        dataclasses.replace(
            kind,
            l1=small(kind.l1, 4, 2),
            l2=small(kind.l2, 12, 3) if kind.l2 else None,
            tlb=dataclasses.replace(kind.tlb, l1_entries=2, l1_ways=0, l2_entries=4, l2_ways=2),
        )
        for kind in spec.core_classes
    )
    return dataclasses.replace(spec, core_classes=kinds, llc=small(spec.llc, 35, 5))


@st.composite
def machines(draw: st.DrawFn) -> MachineSpec:
    """A shipped machine, or one with other parts between its cores and its memory."""
    spec = load_preset(draw(st.sampled_from(PRESETS)))
    if draw(st.booleans()):
        spec = tiny_caches(spec)
    if draw(st.booleans()):
        return spec
    prefetch = draw(st.sampled_from([None, PrefetchSpec(2, 2, 8, 2), PrefetchSpec(16, 1, 64, 16)]))
    walks, ways = draw(st.booleans()), draw(st.sampled_from([0, 2]))
    l2_cores = draw(st.integers(0, 3))  # 0: no L2

    def changed(kind: CoreClassSpec) -> CoreClassSpec:
        tlb = dataclasses.replace(kind.tlb, walk_reads_caches=walks, l1_ways=ways)
        l2 = kind.l2 if l2_cores else None
        if l2 is not None and l2_cores > 1:
            l2 = dataclasses.replace(l2, inclusion="inclusive")
        return dataclasses.replace(
            kind, tlb=tlb, prefetch=prefetch, l2=l2, l2_cores=max(1, l2_cores)
        )

    return dataclasses.replace(
        spec,
        core_classes=tuple(changed(kind) for kind in spec.core_classes),
        page_bytes=draw(st.sampled_from(PAGE_BYTES)),
        directory=draw(st.sampled_from([None, DirectorySpec(16, 2), DirectorySpec(64, 4)])),
    )


@st.composite
def programs(draw: st.DrawFn) -> Trace:
    builder = TraceBuilder()
    threads = draw(st.integers(1, 5))
    accesses = st.tuples(
        st.integers(0, 80),  # line
        st.integers(0, 3),  # reads
        st.integers(0, 3),  # writes
        st.integers(0, 60),  # gap
        st.integers(0, 40),  # span
        st.sampled_from([0, 0, FIRST_WRITE, DEPENDENT, ATOMIC]),
    )
    for _ in range(threads):
        stream = builder.stream()
        for line, reads, writes, gap, span, flags in draw(st.lists(accesses, max_size=80)):
            page, offset = divmod(line, 20)
            builder.access(
                stream, BASE + page * 64 + offset, reads, writes or not reads, gap, span, flags
            )
        builder.barrier(stream, 1, threads)
    return builder.build()


def check_sums(run: core.Simulation, spec: MachineSpec, changed_entries: int = 0) -> None:
    """Check counts that must agree for every program.

    Memory management units have changed `changed_entries` entries of tables of their own; they
    asked for the lines that they did not have.
    """
    totals = dict(zip(core.event_names(), run.totals().sum(axis=0).tolist(), strict=True))
    if spec.l2 is not None:
        assert totals["l2_accesses"] == totals["data_cache_misses"]
        assert (
            totals["l2_misses"] + totals["data_cache_refills_from_l2"]
            == totals["data_cache_misses"]
        )
    asked_for = (
        totals["data_cache_refills_from_northbridge"]
        + totals["page_walk_misses"]
        + totals["prefetches_issued"]
    )
    assert 0 <= totals["llc_hits"] + totals["llc_misses"] - asked_for <= changed_entries
    assert totals["prefetches_late"] <= totals["prefetches_useful"] <= totals["prefetches_issued"]
    assert totals["invalidations_sent"] == totals["invalidations_received"]
