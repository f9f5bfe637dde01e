"""Devices of a machine: GPUs, network cards, disks, and the NUMA nodes that they hang on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autofinity.linux.device_parts import DevicePart, assembled, is_address
from autofinity.linux.hwloc_process import ask_host_devices, ask_xml_devices
from autofinity.linux.pci_classes import kind_of
from autofinity.linux.sysfs_devices import sysfs_parts
from autofinity.model.devices import Device, DeviceKind
from autofinity.model.errors import TopologyError, UsageError
from autofinity.model.topology import OsIndex

_KIND_OF_TYPE: Mapping[int, DeviceKind] = {
    32: "network",  # OpenFabrics
    16: "network",
    8: "accelerator",
    4: "gpu",
    1: "storage",
}
"""Kind of each type of hwloc's OS devices, which may have several."""


def host_devices() -> tuple[Device, ...]:
    """Devices of the present machine: those of sysfs, and names that only hwloc knows (`cuda0`).

    Where hwloc fails, those of sysfs alone.
    """
    parts = sysfs_parts()
    known = {part.pci or part.name for part in parts}
    try:
        more = _parts(ask_host_devices())
    except TopologyError:
        more = []
    # sysfs decides where a device hangs, as it does for the launcher.
    placed = [
        replace(part, nodes=(), cpus=frozenset()) if (part.pci or part.name) in known else part
        for part in more
    ]
    return assembled((*parts, *placed))


def xml_devices(path: str | os.PathLike[str]) -> tuple[Device, ...]:
    """Devices that an hwloc XML file records; none where it was written without them.

    Raises `TopologyError`, which names file and reason, whatever the file holds.
    """
    return assembled(_parts(ask_xml_devices(Path(path))))


def device_called(devices: Sequence[Device], name: str, machine: str) -> Device:
    """The device of `name` on `machine`. Raises `UsageError`, which lists the names that exist."""
    for device in devices:
        if device.is_called(name):
            return device
    raise UsageError(f"no device {name!r} on {machine}; {names_text(devices)}")


def names_text(devices: Sequence[Device]) -> str:
    """Names that can be asked for, as the end of a sentence."""
    names = [
        name for device in devices if device.is_driven for name in (device.names or (device.pci,))
    ]
    if not names:
        return "it shows no device"
    return f"expected {', '.join(names)}, or a PCI address"


def _parts(entries: Iterable[Mapping[str, Any]]) -> list[DevicePart]:
    parts = []
    for entry in entries:
        kind = kind_of(*entry["ids"]) if entry["ids"] else None
        if entry["types"]:
            own = (name for bit, name in _KIND_OF_TYPE.items() if entry["types"] & bit)
            kind = next(own, None)
        if kind is None:
            continue
        nodes = tuple(sorted(map(OsIndex, entry["nodes"])))
        cpus = frozenset(map(OsIndex, entry["cpus"]))
        pci = entry["pci"].lower() if is_address(entry["pci"].lower()) else ""
        if pci or entry["name"]:
            parts.append(DevicePart(kind, entry["name"], pci, nodes, cpus))
    return parts
