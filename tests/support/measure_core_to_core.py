"""Messages between cores through one line, as core-to-core-latency measures them.

Published measurements are in `tests/fidelity/core_to_core.toml`.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measure_latency import UPDATE, line_ns
from sim_programs import ATOMIC, BASE, cpus

from autofinity._core.trace import TraceBuilder
from autofinity.model.topology import PU
from autofinity.resources import shipped
from autofinity.sim.preset import load_preset
from autofinity.sim.preset_machine import whole_machine
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

MEASURED = Path(__file__).parents[1] / "fidelity" / "core_to_core.toml"
DISTANCES = ("sibling", "same_llc", "same_package", "other_package")
"""Distances of two CPUs, from near to far: the nearest that applies."""
ROUNDS = 5000
PAIRS = 4
"""Number of random pairs for each distance."""
SHAPE = ("packages", "nodes_per_package", "llcs_per_node", "cores_per_llc", "pus_per_core")


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread over the pairs at a distance, in nanoseconds."""

    median: float
    lower: float
    upper: float
    """Quartiles."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Published measurements of a machine."""

    name: str
    by_distance: dict[str, Spread]
    elsewhere: dict[str, Spread]
    """Spread over pairs within a package, for a line of another package's memory, where that
    differs."""
    spec: MachineSpec


def measured() -> list[Measured]:
    """All machines of the file."""
    tables = tomllib.loads(MEASURED.read_text(encoding="utf-8"))
    return [_measured(name, table) for name, table in tables.items()]


def _measured(name: str, table: dict[str, object]) -> Measured:
    spreads = {key: _spread(table[key]) for key in DISTANCES if key in table}
    elsewhere = table.get("elsewhere", {})
    assert isinstance(elsewhere, dict)
    machine = table.get("machine")
    spec = load_preset(machine) if isinstance(machine, str) else _made_of(name, table, spreads)
    return Measured(name, spreads, {key: _spread(row) for key, row in elsewhere.items()}, spec)


def _spread(row: object) -> Spread:
    assert isinstance(row, list)
    return Spread(*row)


def _made_of(name: str, table: dict[str, object], spreads: dict[str, Spread]) -> MachineSpec:
    """The machine whose file has the published medians, with the cores and caches of another."""
    document = tomllib.loads(shipped("data", "machines", f"{table['like']}.toml").read_text())
    shape = {key: table.get(key, 1) for key in SHAPE}
    nodes = shape["packages"] * shape["nodes_per_package"]  # type: ignore[operator]
    document["name"] = name
    document["topology"] = {
        **shape,
        "distances": [[10 if a == b else 20 for b in range(nodes)] for a in range(nodes)],
    }
    near = spreads["same_llc"].median
    package = spreads["same_package"].median if "same_package" in spreads else near
    other = spreads["other_package"].median if "other_package" in spreads else package
    latency = document["latency"]
    latency.update(clocks_at_ghz=1.0, further_from=[255])
    for key in latency:
        if key.startswith(("load_", "store_", "atomic_")):
            latency[key] = [near, package, other]
    latency["atomic_hit"] = spreads["sibling"].median if "sibling" in spreads else 5
    bandwidth = document["bandwidth"]
    del bandwidth["links"]
    bandwidth.update(memory_gbs=100, link_gbs=[0, 50, 50])
    return whole_machine(document)


def distance_of(a: PU, b: PU) -> str:
    """The distance, one of `DISTANCES`."""
    same = (a.core == b.core, a.llc == b.llc, a.package == b.package, True)
    return DISTANCES[same.index(True)]


def pairs_at(
    spec: MachineSpec, distance: str, *, package: int | None = None
) -> list[tuple[PU, PU]]:
    """`PAIRS` pairs of PUs at that distance, none where there is no such pair; the first PU in
    `package`.

    The pairs are random, and always the same.
    """
    draw = random.Random(f"{spec.name} {distance}")
    pus = list(spec.topology.pus)
    draw.shuffle(pus)
    found = []
    for a in pus:
        if package is None or a.package == package:
            found += [(a, b) for b in pus if b is not a and distance_of(a, b) == distance][:1]
        if len(found) == PAIRS:
            break
    return found


def message_ns(spec: MachineSpec, a: PU, b: PU) -> float:
    """Half a round trip between two PUs, through a line of the first node's memory.

    Each thread swaps all the time. Between cores the line moves back and forth with every swap, so
    that the threads take turns. The simulator does not order the accesses of two PUs of one core to
    a line of their L1 (a processor locks the line): for such PUs the result is the time that one PU
    takes to swap the line that the other has swapped before.
    """
    if a.core == b.core:
        return line_ns(spec, [(int(a.os_index), 1)], UPDATE, pu=int(b.os_index))
    builder = TraceBuilder()
    streams = [builder.stream(), builder.stream()]
    for stream in streams:
        builder.access(stream, BASE, reads=1, writes=1, flags=ATOMIC)
        for barrier in (1, 2):  # nobody has to be woken from the second
            builder.barrier(stream, barrier, len(streams))
        if stream == 0:
            builder.roi_begin(stream)
        for _ in range(ROUNDS):
            builder.access(stream, BASE, reads=1, writes=1, gap=0, flags=ATOMIC)
    builder.roi_end(0)
    placed = cpus(int(a.os_index), int(b.os_index))
    result = simulate(spec, builder.build(), placed, page_policy="bind", bind_node=0)
    return result.roi_ns / (2 * ROUNDS)


def messages_ns(spec: MachineSpec, pairs: Sequence[tuple[PU, PU]]) -> list[float]:
    """Time of a message for every pair."""
    return [message_ns(spec, a, b) for a, b in pairs]
