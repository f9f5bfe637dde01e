"""Devices of the present machine, read from sysfs. `native/launcher/devices.c` finds the same ones.

A device has a name in a class of sysfs (`/sys/class/net/eth0`) and a link to the hardware that it
drives. The kernel gives the NUMA node of a PCI function, so the node is that of the first folder
around the hardware that has one. A name without hardware (`lo`, `bond0`) is no device.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from autofinity.linux.device_parts import DevicePart, is_address
from autofinity.linux.kernel_file import read_number, read_text
from autofinity.linux.pci_classes import kind_of
from autofinity.model.devices import DeviceKind
from autofinity.model.topology import OsIndex

CLASSES: dict[str, DeviceKind] = {
    "net": "network",
    "infiniband": "network",
    "drm": "gpu",
    "accel": "accelerator",
    "nvme": "storage",
    "block": "storage",
}
"""Classes of sysfs whose members are devices, in the order in which names are looked up."""


def sysfs_parts(root: str | os.PathLike[str] = "/sys") -> list[DevicePart]:
    """The parts of the devices below `root`."""
    top = Path(os.path.realpath(root))
    functions = list(_functions(top))
    return [*functions, *_named(top, {part.pci for part in functions})]


def _functions(top: Path) -> Iterator[DevicePart]:
    """PCI functions of the kinds that threads drive."""
    for folder in _entries(top / "bus" / "pci" / "devices"):
        if not is_address(folder.name):
            continue
        ids = [_hexadecimal(folder / name) for name in ("class", "vendor", "device")]
        kind = kind_of(ids[0] >> 8, ids[1], ids[2])
        if kind is not None:
            yield DevicePart(kind, pci=folder.name, nodes=_nodes(_real(folder), top))


def _named(top: Path, functions: Collection[str]) -> Iterator[DevicePart]:
    """Members of the classes, each with the PCI function that it drives itself."""
    for name, kind in CLASSES.items():
        for entry in _entries(top / "class" / name):
            # A connector of a graphics card (card0-HDMI-A-1) is no device of its own.
            if not (entry / "device").is_dir() or (name == "drm" and "-" in entry.name):
                continue
            hardware = _real(entry / "device")
            around = next((part for part in reversed(hardware.parts) if is_address(part)), "")
            pci = around if around in functions else ""
            yield DevicePart(kind, entry.name, pci, _nodes(hardware, top))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _nodes(hardware: Path, top: Path) -> tuple[OsIndex, ...]:
    """Node of the first folder around `hardware` that knows it; empty where none does."""
    for folder in (hardware, *hardware.parents):
        if top not in folder.parents:
            break
        node = read_number(folder / "numa_node", -1)
        if node >= 0:
            return (OsIndex(node),)
    return ()


def _hexadecimal(path: Path) -> int:
    try:
        return int(read_text(path), 16)
    except ValueError:
        return 0
