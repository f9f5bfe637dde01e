"""Idle latencies of the simulated machine, measured by programs like those of benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim_programs import (
    ATOMIC,
    DEPENDENT,
    FIRST_WRITE,
    LINES_PER_PAGE,
    chase,
    chase_ns,
    cpus,
    first_touch,
    region,
    shuffled_in_pages,
    without_prefetch,
)

from autofinity._core.trace import TraceBuilder
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec


def pages_of(share: float, size_bytes: int) -> int:
    return max(1, int(size_bytes * share) // 4096)


def cache_levels(machine: MachineSpec) -> Iterator[tuple[str, float, float]]:
    """Level, its latency in the machine file, and that of a pointer chase, in nanoseconds."""
    spec = without_prefetch(machine)
    l1, l2, llc = spec.l1, spec.l2, spec.llc
    yield "L1", l1.latency_ns, chase_ns(spec, pages_of(0.5, l1.size_bytes), 8)
    between = llc.size_bytes // 8  # page colours leave room even in four ways
    if l2 is not None:
        # A quarter of the L2: above the L1, and page colours leave room in every set.
        yield "L2", l2.latency_ns, chase_ns(spec, pages_of(0.25, l2.size_bytes), 2)
        between = max(2 * l2.size_bytes, between)
    # Without a second TLB the set is beyond the reach of the first: a walk for every page of it.
    walk_ns = spec.tlb.walk_ns / LINES_PER_PAGE if spec.tlb.l2_entries == 0 else 0
    yield "LLC", llc.latency_ns + walk_ns, chase_ns(spec, pages_of(1, between), 1)


def memory_ns(machine: MachineSpec, node: int) -> float:
    """Time of one dependent load of the first core from the memory of a node."""
    spec = without_prefetch(machine)
    builder = TraceBuilder()
    stream = builder.stream()
    lines = shuffled_in_pages(region(256))
    first_touch(builder, stream, lines)
    builder.roi_begin(stream)
    chase(builder, stream, lines)
    builder.roi_end(stream)
    result = simulate(spec, builder.build(), cpus(0), page_policy="bind", bind_node=node)
    return result.roi_ns / len(lines)


def line_ns(
    spec: MachineSpec,
    others: Sequence[tuple[int, int]],
    mine: tuple[int, int, int],
    *,
    have_it: bool = False,
    pu: int | None = None,
) -> float:
    """Mean time of the core of `pu` (the first core) for `mine` (reads, writes, flags) on a line.

    Before that, each of `others` (PU, whether it stores) in turn loads the line or stores to it,
    and then (`have_it`) the core itself loads it.
    """
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(len(others) + 1)]
    lines = shuffled_in_pages(region(2))
    lines = [line for line in lines if line % LINES_PER_PAGE]
    for number, (_, stores) in enumerate(others):
        if number:
            builder.wait(streams[number], number)
        for line in lines:
            builder.access(
                streams[number], line, int(not stores), stores, flags=FIRST_WRITE * stores
            )
        builder.post(streams[number], number + 1)
    reader = streams[-1]
    builder.wait(reader, len(others))
    # Translations first, by a line of the page that nobody else has.
    for line in (*region(2)[::LINES_PER_PAGE], *lines):
        if have_it or line % LINES_PER_PAGE == 0:
            builder.access(reader, line)
    builder.compute(reader, gap=10_000)
    builder.roi_begin(reader)
    reads, writes, flags = mine
    for line in lines:
        builder.access(reader, line, reads, writes, gap=0, flags=flags)
    builder.roi_end(reader)
    first = min(spec.topology.pus, key=lambda each: (each.core, each.smt_rank)).os_index
    placed = cpus(*(other for other, _ in others), int(first) if pu is None else pu)
    return simulate(spec, builder.build(), placed).roi_ns / len(lines)


LOAD, STORE, UPDATE = (1, 0, DEPENDENT), (0, 1, FIRST_WRITE | DEPENDENT), (1, 1, ATOMIC)
"""Accesses that the core waits for: without waiting, a store would go on in the store buffer."""
