"""Hand-made programs for the tests of the simulator: each is a few lines over `TraceBuilder`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autofinity._core.sim import Simulation, event_names
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.model.topology import OsIndex
from autofinity.sim.replay import simulate
from autofinity.sim.result import SimResult
from autofinity.sim.spec import MachineSpec

ATOMIC, FIRST_WRITE, DEPENDENT = 1, 2, 4
LINES_PER_PAGE = 64
BASE = 1 << 20  # first line of the data, well away from line 0


def cpus(*numbers: int) -> list[OsIndex]:
    return [OsIndex(number) for number in numbers]


def route_gbs(spec: MachineSpec, a_node: int, b_node: int) -> float:
    """Bandwidth of the narrowest link from one node to another; infinite when none has a limit."""
    route = spec.bandwidth.routes[a_node * spec.topology.n_nodes + b_node]
    return min(spec.bandwidth.links[link // 2].gbs or float("inf") for link in route)


def with_links_of(spec: MachineSpec, gbs: float) -> MachineSpec:
    """The same machine with links of `gbs` in each direction."""
    links = tuple(replace(link, gbs=gbs) for link in spec.bandwidth.links)
    return replace(spec, bandwidth=replace(spec.bandwidth, links=links))


def without_prefetch(spec: MachineSpec) -> MachineSpec:
    """The machine without prefetchers, for programs that need to see each miss, like benchmarks
    that turn prefetchers off.
    """
    return replace(
        spec, core_classes=tuple(replace(kind, prefetch=None) for kind in spec.core_classes)
    )


def cores_by_distance(spec: MachineSpec) -> dict[int, list[int]]:
    """Distance class from the LLC domain of the first core → PUs, one for each L2 except its
    own.
    """
    pus = {spec.l2_domains[pu.core]: pu for pu in reversed(spec.topology.pus)}
    first, *others = (pus[l2] for l2 in sorted(pus))
    found: dict[int, list[int]] = {}
    for pu in others:
        found.setdefault(spec.llc_distance[first.llc][pu.llc], []).append(int(pu.os_index))
    return dict(sorted(found.items()))


def sharers_of_an_l2(spec: MachineSpec) -> list[int]:
    """PUs of the first cores that share an L2, one for each core; none where L2s are private."""
    first = {pu.core: int(pu.os_index) for pu in reversed(spec.topology.pus)}
    cores: dict[int, list[int]] = {}
    for core, l2 in enumerate(spec.l2_domains):
        cores.setdefault(l2, []).append(first[core])
    return next((pus for pus in cores.values() if len(pus) > 1), [])


def region(pages: int, first_page: int = 0) -> list[int]:
    """All lines of `pages` consecutive pages."""
    start = BASE + first_page * LINES_PER_PAGE
    return list(range(start, start + pages * LINES_PER_PAGE))


def shuffled_in_pages(lines: Sequence[int], seed: int = 1) -> list[int]:
    """A random order that stays within a page before it goes to the next: few page walks."""
    rng = random.Random(seed)
    order: list[int] = []
    for start in range(0, len(lines), LINES_PER_PAGE):
        page = list(lines[start : start + LINES_PER_PAGE])
        rng.shuffle(page)
        order.extend(page)
    return order


def chase(builder: TraceBuilder, stream: int, lines: Sequence[int]) -> None:
    """Load every line; each load depends on the one before."""
    for line in lines:
        builder.access(stream, line, reads=1, flags=DEPENDENT)


def load_all(builder: TraceBuilder, stream: int, lines: Sequence[int], gap: int = 4) -> None:
    """Load every line, independently."""
    for line in lines:
        builder.access(stream, line, reads=1, gap=gap)


def write_all(builder: TraceBuilder, stream: int, lines: Sequence[int], gap: int = 4) -> None:
    for line in lines:
        builder.access(stream, line, reads=0, writes=1, gap=gap, flags=FIRST_WRITE)


def first_touch(builder: TraceBuilder, stream: int, lines: Sequence[int]) -> None:
    """Load one line of each page."""
    for line in lines[::LINES_PER_PAGE]:
        builder.access(stream, line, reads=1)


def chase_ns(spec: MachineSpec, pages: int, repeats: int) -> float:
    """Time of one dependent load in a warm working set of `pages` pages."""
    builder = TraceBuilder()
    stream = builder.stream()
    lines = shuffled_in_pages(region(pages))
    chase(builder, stream, lines)
    chase(builder, stream, lines)
    builder.roi_begin(stream)
    for _ in range(repeats):
        chase(builder, stream, lines)
    builder.roi_end(stream)
    return simulate(spec, builder.build(), cpus(0)).roi_ns / (repeats * len(lines))


def false_sharing(threads: int, rounds: int, compacted: int) -> Trace:
    """All threads read and write one line; `compacted` read-write pairs in one run."""
    builder = TraceBuilder()
    for _ in range(threads):
        stream = builder.stream()
        for _ in range(rounds // compacted):
            builder.access(
                stream,
                BASE,
                reads=compacted,
                writes=compacted,
                gap=8 * compacted,
                span=8 * (compacted - 1),
            )
    return builder.build()


def ping_pong(threads: int, rounds: int, lines: int = 8) -> Trace:
    """All threads update the same few lines, with work between updates."""
    builder = TraceBuilder()
    for thread in range(threads):
        stream = builder.stream()
        for i in range(rounds):
            builder.access(stream, BASE + (i + thread) % lines, reads=1, writes=1, gap=200)
    return builder.build()


def streaming(threads: int, pages_each: int, repeats: int) -> Trace:
    """Every thread reads its own set again and again."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(threads)]
    for stream in streams:
        first_touch(builder, stream, region(pages_each, stream * 2 * pages_each))
        builder.barrier(stream, 1, threads)
    builder.roi_begin(streams[0])
    for stream in streams:
        builder.barrier(stream, 3, threads)
        for _ in range(repeats):
            load_all(builder, stream, region(pages_each, stream * 2 * pages_each), gap=16)
        builder.barrier(stream, 2, threads)
    builder.roi_end(streams[0])
    return builder.build()


def round_pages(pages: int, turns: int) -> Trace:
    """One thread that goes round so many pages, and waits for each line."""
    builder = TraceBuilder()
    stream = builder.stream()
    builder.roi_begin(stream)
    for turn in range(turns):
        for page in range(pages):
            line = BASE + page * LINES_PER_PAGE + (7 * page + turn) % LINES_PER_PAGE
            builder.access(stream, line, 1, 0, gap=200, flags=DEPENDENT)
    builder.roi_end(stream)
    return builder.build()


def run(spec: MachineSpec, trace: Trace, *numbers: int, skew_ns: float = 0.0) -> SimResult:
    return simulate(spec, trace, cpus(*numbers), skew_ns=skew_ns)


def counts(run: Simulation, event: str) -> list[int]:
    """Counts of each thread until now."""
    found: list[int] = run.totals()[:, event_names().index(event)].tolist()
    return found


def kept(trace: Trace | TraceBuilder, folder: Path) -> str:
    """Write a trace into a folder of its own. Returns the folder."""
    folder.mkdir()
    trace.write(str(folder))
    return str(folder)
