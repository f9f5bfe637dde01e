"""Prints how the simulated machine compares with published and analytic facts, as Markdown.

    python scripts/studies/fidelity_table.py

The numbers come from the functions that the tests in `tests/fidelity` use, whose names are in the
last column. Takes about ten seconds; needs the test tools, and a C compiler for the captured
programs.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from captured_training import captured_training  # noqa: E402
from measure_bandwidth import cores_of_llc, llc_gbs, written_gbs  # noqa: E402
from measure_bandwidth import read_gbs as domain_read_gbs  # noqa: E402
from measure_contention import false_sharing_of, handover_ns  # noqa: E402
from measure_core_to_core import Spread, measured, messages_ns, pairs_at  # noqa: E402
from measure_latency import LOAD, STORE, UPDATE, cache_levels, line_ns, memory_ns  # noqa: E402
from measure_mapping import (  # noqa: E402
    OTHER_SOCKET,
    PAIRS,
    PHASES,
    SAME_CORE,
    SAME_CORE_FAR,
    SAME_LLC,
    SOLVER,
    gains,
    os_ns,
    phased_ns,
)
from measure_queues import (  # noqa: E402
    SERVICE_NS,
    cores_of,
    demand_gbs,
    poisson,
    read_gbs,
    simulated_wait_ns,
)
from measure_smt import (  # noqa: E402
    chased_lines_per_us,
    instructions_per_ns,
    loaded_lines_per_us,
)
from sim_programs import (  # noqa: E402
    cores_by_distance,
    route_gbs,
    sharers_of_an_l2,
    without_prefetch,
)

from autofinity.sim.preset import load_preset, preset_names  # noqa: E402

type Row = tuple[str, ...]


def pair(published: float, ours: float) -> str:
    return f"{published:.1f} / {ours:.1f}"


def latencies() -> Iterator[Row]:
    """Nanoseconds, machine file / simulated."""
    for name in preset_names():
        spec = load_preset(name)
        levels = {level: pair(ns, got) for level, ns, got in cache_levels(spec)}
        far = max(range(len(spec.node_distance)), key=lambda node: spec.node_distance[0][node])
        memory = [
            pair(spec.latency.dram[spec.node_distance[0][node]], memory_ns(spec, node))
            for node in (0, far)
        ]
        yield (name, *(levels.get(level, "none") for level in ("L1", "L2", "LLC")), *memory)


def transfers() -> Iterator[Row]:
    """Nanoseconds, machine file / simulated, of the nearest and the farthest other core.

    The nearest core is one with the same L2, if there is one, and then one with another L2.
    """
    for name in preset_names():
        spec = without_prefetch(load_preset(name))
        if sharers := sharers_of_an_l2(spec):
            sibling, own, *_ = sharers
            core = next(pu.core for pu in spec.topology.pus if pu.os_index == own)
            l2 = spec.core_classes[spec.class_of_core[core]].l2
            assert l2 is not None
            expected = (l2.latency_ns, l2.latency_ns, max(l2.latency_ns, spec.latency.atomic_hit))
            ours = (line_ns(spec, [(sibling, 1)], how, pu=own) for how in (LOAD, STORE, UPDATE))
            yield (name, "same L2", *map(pair, expected, ours))
        by_distance = cores_by_distance(spec)
        for distance in sorted({min(by_distance), max(by_distance)}):
            other, table = [(by_distance[distance][0], 1)], spec.latency
            yield (
                name,
                str(distance),
                pair(table.load_modified[distance], line_ns(spec, other, LOAD)),
                pair(table.store_modified[distance], line_ns(spec, other, STORE)),
                pair(table.atomic_modified[distance], line_ns(spec, other, UPDATE)),
            )


def core_to_core() -> Iterator[Row]:
    """Nanoseconds of a message, as published and simulated, by distance."""

    def spread(found: Spread) -> str:
        return f"{found.median:.1f} ({found.lower:.1f}-{found.upper:.1f})"

    for machine in measured():
        for distance, found in machine.by_distance.items():
            ours = messages_ns(machine.spec, pairs_at(machine.spec, distance, package=0))
            said = distance.replace("_", " ").replace("llc", "LLC")
            yield (machine.name, said, spread(found), f"{max(ours):.1f}")
        for distance, found in machine.elsewhere.items():
            ours = messages_ns(machine.spec, pairs_at(machine.spec, distance, package=1))
            said = f"{distance.replace('_', ' ')}, memory of the other"
            yield (machine.name, said, spread(found), f"{max(ours):.1f}")


def bandwidths() -> Iterator[Row]:
    """GB/s, machine file / simulated, without the limits that the cores of a node cannot reach."""
    for name in preset_names():
        spec = without_prefetch(load_preset(name))
        pus = cores_of(spec, 0, 48)
        cells = []
        for node in (0, len(spec.node_distance) - 1):
            limits = [spec.bandwidth.memory_gbs[node] or math.inf]
            if node:
                limits.append(route_gbs(spec, 0, node))
            limit = min(limits)
            demand = demand_gbs(spec, pus, spec.latency.dram[spec.node_distance[0][node]])
            full = demand > 1.2 * limit
            cells.append(pair(limit, read_gbs(spec, pus, node, limit)) if full else "not filled")
        yield (name, cells[0], cells[1] if len(spec.node_distance) > 1 else "one node")


def queueing() -> Iterator[Row]:
    for utilisation in (0.3, 0.5, 0.7, 0.9):
        expected = utilisation / (2 * (1 - utilisation))
        ours = simulated_wait_ns(poisson(utilisation, seed=1)) / SERVICE_NS
        yield (
            f"mean wait for a controller at a utilisation of {utilisation}, in services",
            "M/D/1, Pollaczek-Khinchin",
            f"{expected:.2f}",
            f"{ours:.2f}",
            "sim/test_queues.py",
        )


def contention() -> Iterator[Row]:
    spec = load_preset("opteron-6164he")
    for distance, near in cores_by_distance(spec).items():
        store_ns, atomic_ns = (
            spec.latency.store_modified[distance],
            spec.latency.atomic_modified[distance],
        )
        each, ns = false_sharing_of(spec, near[0], store_ns)
        yield (
            f"false sharing on the Opteron, distance {distance}: transfers a store, ns a transfer",
            "David et al., SOSP 2013",
            f"1, {store_ns:.1f}",
            f"{each:.3f}, {ns:.1f}",
            "sim/test_contention.py",
        )
        yield (
            f"handing a lock over, distance {distance}: atomics on another core's line",
            "two or three transfers of the line",
            "2-3",
            f"{handover_ns(spec, near[0]) / atomic_ns:.2f}",
            "sim/test_contention.py",
        )


def factors() -> Iterator[Row]:
    for name, factor in (("altix-450", 2.1), ("xeon-x7550", 1.5), ("opteron-6386", 2.8)):
        spec = load_preset(name)
        own, *others = (memory_ns(spec, node) for node in range(len(spec.node_distance)))
        yield (
            f"NUMA factor of {name}",
            "Diener et al., TPDS 2016, table 4",
            f"{factor}",
            f"{max(others) / own:.2f}",
            "sim/test_mapping_impact.py",
        )


def core_dies() -> Iterator[Row]:
    spec = load_preset("epyc-9654")
    notes = "DRAMHiT's notes on an EPYC 9354P"
    gbs = {cores: domain_read_gbs(spec, cores_of_llc(spec, 0, cores)) for cores in (1, 2, 4, 8)}
    all_cores = cores_of_llc(spec, 0, 8)
    socket = load_preset("epyc-9654-nps1")
    for what, source, published, ours in (
        ("one core reads", notes, "25.3", gbs[1]),
        ("two cores read", notes, "45.4", gbs[2]),
        ("four cores read", f"32 B at 1.8 GHz; {notes}", "57.6; 49.9", gbs[4]),
        ("eight cores read", "32 B at 1.8 GHz", "57.6", gbs[8]),
        (
            "eight cores write",
            f"16 B at 1.8 GHz; {notes}",
            "28.8; 28.6",
            written_gbs(spec, all_cores),
        ),
        (
            "eight cores read their L3",
            "AIDA64 on a 7900X, 24 B a clock",
            "710",
            llc_gbs(spec, all_cores),
        ),
        (
            "48 cores, four of each core die of a socket, read",
            "STREAM; likwid-bench",
            "378; 360",
            domain_read_gbs(socket, cores_of(socket, 0, 48)),
        ),
    ):
        yield (f"Genoa: {what}, GB/s", source, published, f"{ours:.1f}", "sim/test_bandwidth.py")


def second_threads() -> Iterator[Row]:
    for what, source, published, rate, every_core in (
        (
            "read memory",
            "DRAMHiT's notes on an EPYC 9354P: 353 of 360 GB/s",
            "0.98",
            domain_read_gbs,
            True,
        ),
        ("chase pointers", "one load under way each", "2", chased_lines_per_us, False),
        ("load at random", "all miss buffers in use by one", "1", loaded_lines_per_us, False),
        (
            "compute",
            "onedfrk.com, newsletter of 2026-06-04",
            "1.15-1.30",
            instructions_per_ns,
            False,
        ),
    ):
        for name, cores in (("epyc-9654", 8), ("xeon-8480", 14)):
            spec = load_preset(name)
            one, two = (
                rate(spec, cores_of_llc(spec, 0, cores if every_core else 1, levels))
                for levels in (1, 2)
            )
            yield (
                f"{name}: gain by a second thread a core where threads {what}",
                source,
                published,
                f"{two / one:.2f}",
                "sim/test_smt.py",
            )


def mapping(folder: Path) -> Iterator[Row]:
    found = gains(*SOLVER, folder / "cg")
    source = "Diener et al., TPDS 2016, section 3 (SP; ours: cg)"
    for what, published, ours in (
        ("local threads and data", 62, found.threads_and_data),
        ("local data alone", 31, found.data),
        ("local threads alone", 15, found.threads),
    ):
        yield (
            f"gain by {what} against both remote",
            source,
            f"{published} %",
            f"{ours:.0%}".replace("%", " %"),
            "sim/test_mapping_impact.py",
        )


def communication(folder: Path) -> Iterator[Row]:
    spec = load_preset("xeon-e5-2650")
    source = "Cruz et al., CCPE 2014, figure"
    pairs = captured_training("prodcons", PAIRS, 8, folder / "pairs")
    a, b, c = (pairs.run(spec, pus).roi_ns for pus in (SAME_CORE, SAME_LLC, OTHER_SOCKET))
    yield (
        "time of producers and consumers: same core, same LLC, other socket",
        f"{source} 2",
        "A < B < C",
        f"1 < {b / a:.2f} < {c / a:.2f}",
        "sim/test_communication.py",
    )
    phases = captured_training("prodcons", PHASES, 8, folder / "phases")
    os = os_ns(phases, spec)
    static = phased_ns(phases, spec, [SAME_CORE]) / os
    oracle = phased_ns(phases, spec, [SAME_CORE, SAME_CORE_FAR]) / os
    yield (
        "time of two phases in turn: oracle, static, OS",
        f"{source} 3",
        "oracle < static < OS",
        f"{oracle:.2f} < {static:.2f} < 1",
        "sim/test_communication.py",
    )


def table(title: str, head: Row, rows: Iterator[Row]) -> None:
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: tuple[Callable[[], Iterator[Row]], ...] = (
            queueing,
            contention,
            factors,
            core_dies,
            second_threads,
            lambda: communication(folder),
            lambda: mapping(folder),
        )
        table(
            "Facts",
            ("fact", "source", "published", "ours", "in tests/fidelity"),
            (row for part in parts for row in part()),
        )
    table(
        "Idle latencies, ns: machine file / pointer chase",
        ("machine", "L1", "L2", "LLC", "own memory", "farthest memory"),
        latencies(),
    )
    table(
        "A line that another core has modified, ns: machine file / ours",
        ("machine", "distance", "load", "store", "atomic"),
        transfers(),
    )
    table(
        "A message between two CPUs, ns",
        ("machine", "distance", "measured: median (quartiles)", "ours"),
        core_to_core(),
    )
    table(
        "Bandwidth, GB/s: machine file / read by the cores of the first node",
        ("machine", "own controllers", "the last node's, over links"),
        bandwidths(),
    )


if __name__ == "__main__":
    main()
