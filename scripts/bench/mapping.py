"""Mappers: CPU milliseconds from a matrix to the CPUs of threads, and cost beside SCOTCH's."""

from __future__ import annotations

from time import process_time

from parts import Part, Settings
from sharing_patterns import patterns

from autofinity.linux.topology import synthetic_topology
from autofinity.mapping.bisection import bisection
from autofinity.mapping.cost import cost
from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.mapper import Map
from autofinity.mapping.refined import refined
from autofinity.mapping.scotch import scotch
from autofinity.model.errors import CapabilityError
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import Topology

MACHINES = {
    64: "pack:4 numa:2 l3:1 core:4 pu:2",
    256: "pack:4 numa:2 l3:4 core:4 pu:2",
    1024: "pack:8 numa:2 l3:4 core:8 pu:2",
}
PUBLISHED_MS = {64: 0.37, 256: 6.2, 1024: 64}
"""Times of the public C program of EagerMap, measured on a machine of this class."""
MAPPERS = {"eagermap": eagermap, "bisection": bisection, "refined": refined, "scotch": scotch}


def run(settings: Settings) -> Part:
    """The quickest of some rounds for each mapper and pattern; the slower of the two patterns."""
    values: dict[str, float | None] = {}
    lines = []
    for threads, description in MACHINES.items():
        topology = synthetic_topology(description)
        rounds = max(1, min(20, (2 if settings.quick else 20) * 256 // threads))
        chosen = {name: patterns(threads)[name] for name in ("neighbours, shuffled", "random")}
        for name, mapper in MAPPERS.items():
            try:
                found = {of: timed(mapper, each, topology, rounds) for of, each in chosen.items()}
            except CapabilityError as error:
                lines.append(f"{name} at {threads}: {error}")
                continue
            slowest_ms = max(seconds for seconds, _ in found.values()) * 1e3
            values[f"{name}_{threads}_ms"] = slowest_ms
            published = (
                f" (public C program: {PUBLISHED_MS[threads]})" if name == "eagermap" else ""
            )
            lines.append(
                f"{name:10}{threads:5} threads {slowest_ms:9.2f} ms, cost "
                + ", ".join(f"{value:,.0f} ({of})" for of, (_, value) in found.items())
                + published
            )
    return Part(values, lines)


def timed(
    mapper: Map, sharing: SharingMatrix, topology: Topology, rounds: int
) -> tuple[float, float]:
    """CPU seconds of the quickest round, and the cost of the mapping."""
    seconds = []
    for _ in range(rounds):
        begin = process_time()
        cpus = mapper(sharing, topology, topology.allowed)
        seconds.append(process_time() - begin)
    return min(seconds), cost(sharing, topology, cpus)
