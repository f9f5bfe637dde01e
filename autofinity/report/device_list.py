"""Devices of a machine in lines, grouped by the NUMA node that they hang on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.affinity.near import nodes_of
from autofinity.foreign_text import one_line
from autofinity.model.devices import Device
from autofinity.model.topology import Topology


@dataclass(frozen=True, slots=True)
class DevicePlace:
    """Logical nodes and sockets that a device hangs on; both empty where they are not known."""

    nodes: frozenset[int]
    packages: frozenset[int]


def place_of(topology: Topology, device: Device) -> DevicePlace:
    """Place of a device. A node without CPUs is in no socket."""
    nodes = nodes_of(topology, device)
    packages = {pu.package for pu in topology.pus if pu.node in nodes}
    return DevicePlace(nodes, frozenset(packages))


def where_text(topology: Topology, device: Device) -> str:
    """Place of a device in words."""
    place = place_of(topology, device)
    if not place.nodes:
        return "node not known"
    nodes, packages = (
        ",".join(map(str, sorted(numbers))) for numbers in (place.nodes, place.packages)
    )
    return f"node {nodes}" + (f" (socket {packages})" if packages else "")


def names_text(device: Device) -> str:
    """All names of a device, and its PCI address, in one line."""
    return one_line(" ".join((*device.names, device.pci)).strip())


def device_lines(topology: Topology, devices: Sequence[Device]) -> list[str]:
    """One line for each device, those of a node together, unknown places last; empty for none."""
    driven = [device for device in devices if device.is_driven]
    driven.sort(key=lambda device: _order(place_of(topology, device)))
    rows = [(where_text(topology, device), device.kind, names_text(device)) for device in driven]
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return [
        "devices",
        *(f"  {where:{widths[0]}}  {kind:{widths[1]}}  {names}" for where, kind, names in rows),
    ]


def _order(place: DevicePlace) -> tuple[bool, list[int]]:
    return not place.nodes, sorted(place.nodes)
