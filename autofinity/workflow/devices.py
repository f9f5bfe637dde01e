"""Devices of a machine by its name, and the nodes that a placement near one of them prefers."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.affinity.near import NOWHERE, nodes_near, nodes_of
from autofinity.model.devices import Device
from autofinity.model.errors import UsageError
from autofinity.model.topology import Topology


@dataclass(frozen=True, slots=True)
class Nearness:
    """Logical nodes that a placement prefers; `note` says why there are none."""

    nodes: frozenset[int] = NOWHERE
    note: str = ""


def machine_devices(topology: Topology, machine: str) -> tuple[Device, ...]:
    """Devices of the machine called `machine`, whose topology is known.

    None on presets and synthetic machines. Raises `TopologyError` for a bad file.
    """
    from autofinity.linux.devices import host_devices, xml_devices

    if topology.origin == "host":
        return host_devices()
    return xml_devices(machine) if topology.origin == "file" else ()


def near_device(topology: Topology, machine: str, name: str | None) -> Nearness:
    """Nodes of the device called `name`; none for no name.

    Raises `UsageError` for an unknown name, listing those that exist.
    """
    if name is None:
        return Nearness()
    from autofinity.linux.devices import device_called

    devices = machine_devices(topology, machine)
    if not devices and topology.origin != "host":
        raise UsageError(
            f"--near {name}: {machine} records no devices; expected host, or an hwloc XML file "
            "written by `lstopo` with them"
        )
    device = device_called(devices, name, machine)
    nodes = nodes_near(topology, device)
    if nodes:
        return Nearness(nodes)
    why = "its NUMA node is not known"
    if nodes_of(topology, device):
        why = "it is as near to every node"
    elif device.nodes:
        why = f"node {min(device.nodes)} is none of this machine's"
    return Nearness(note=f"--near {name} has no effect: {why}")
