"""`autofinity topology`: print a machine, and where threads would sit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autofinity.cli.help import Command
from autofinity.cli.options.cpus import available_cpus
from autofinity.cli.options.hint import HINT
from autofinity.cli.options.json import json_option
from autofinity.cli.options.placing import (
    available_option,
    near_nodes,
    near_option,
    topology_option,
)
from autofinity.cli.options.svg import keep_svg, svg_option
from autofinity.cli.picture import print_picture
from autofinity.cli.printer import say, say_json
from autofinity.linux.gaps import gaps
from autofinity.model.affinity import SPREAD, Hint
from autofinity.model.errors import UsageError
from autofinity.report.device_list import device_lines, place_of
from autofinity.workflow.backends import machine_topology
from autofinity.workflow.devices import machine_devices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autofinity.model.devices import Device
    from autofinity.model.placement import CoreSet
    from autofinity.model.topology import Topology


@click.command(cls=Command)
@topology_option
@click.option("--threads", "-t", type=int, help="Show where this many threads would be placed.")
@click.option("--hint", type=HINT, help="Hint that places the --threads.  [default: spread]")
@near_option
@available_option
@svg_option
@json_option
def command(
    machine: str,
    threads: int | None,
    hint: Hint | None,
    near: str | None,
    available: str | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Show a machine: sockets, NUMA nodes, last-level caches, cores, and the devices on them."""
    from autofinity.affinity.hints import get_affinity

    topology = machine_topology(machine)
    cpus = available_cpus(topology, available)
    placed = None
    if threads is not None:
        nodes = near_nodes(topology, machine, near)
        placed = get_affinity(topology, threads, hint or SPREAD, cpus, nodes)
    elif hint is not None or near is not None:
        option = f"--hint {hint.name}" if hint is not None else f"--near {near}"
        raise UsageError(f"{option} needs --threads N: how many threads to place")
    devices = machine_devices(topology, machine)
    on, said = None, ""
    if placed is not None:
        on = placed.cpus
        said = f"{(hint or SPREAD).shown}: {len(on)} threads as {placed.affinity}"
        said += f", near {near}" if near is not None else ""
    if as_json:
        say_json(_document(machine, topology, devices, placed))
    else:
        print_picture(topology, machine, cpus, on, said)
        for line in device_lines(topology, devices):
            say(line)
    if svg is not None:
        keep_svg(svg, topology, machine, cpus, on, said, devices)


def _document(
    machine: str, topology: Topology, devices: Sequence[Device], placed: CoreSet | None
) -> dict[str, Any]:
    known = [node for node in range(topology.n_nodes) if node not in topology.unknown_nodes]
    document: dict[str, Any] = {
        "machine": machine,
        "origin": topology.origin,
        "model": topology.model,
        "packages": topology.n_packages,
        "nodes": len(known),
        "node_os_indices": [topology.node_os_indices[node] for node in known],
        "nodes_without_memory": sorted(topology.memoryless_nodes - topology.unknown_nodes),
        "unknown": list(gaps(topology)),
        "llcs": topology.n_llcs,
        "llc_parts": topology.llc_parts,
        "cores": topology.n_cores,
        "pus": len(topology.pus),
        "distances": [[topology.distances[a][b] for b in known] for a in known],
        "allowed": sorted(topology.allowed),
        "page_sizes_bytes": list(topology.page_sizes_bytes),
        "caches": [asdict(cache) for cache in topology.caches],
        "pu": [
            {
                "os_index": pu.os_index,
                "package": pu.package,
                "node": None if pu.node in topology.unknown_nodes else pu.node,
                "llc": pu.llc,
                "core": pu.core,
                "smt_rank": pu.smt_rank,
                "efficiency": pu.efficiency,
            }
            for pu in topology.pus
        ],
        "devices": [
            {
                "names": list(device.names),
                "kind": device.kind,
                "pci": device.pci or None,
                "node_os_indices": list(device.nodes),
                "nodes": sorted(place.nodes),
                "packages": sorted(place.packages),
            }
            for device in devices
            for place in (place_of(topology, device),)
        ],
    }
    if placed is not None:
        document["placement"] = {
            "threads": len(placed.cpus),
            "hint": str(placed.hint),
            "cpus": list(placed.cpus),
            "occupancy": [list(counts) for counts in placed.affinity.occupancy],
        }
    return document
