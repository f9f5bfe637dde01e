"""Devices from their parts: a PCI function and the names that drivers give it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autofinity.model.devices import Device, DeviceKind
from autofinity.model.topology import OsIndex

_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


@dataclass(frozen=True, slots=True)
class DevicePart:
    """One name of a device, or its PCI function."""

    kind: DeviceKind
    name: str = ""
    """Empty for the PCI function itself."""
    pci: str = ""
    """Address; empty for a device on another bus, which is then one part."""
    nodes: tuple[OsIndex, ...] = ()
    cpus: frozenset[OsIndex] = frozenset()


def is_address(text: str) -> bool:
    """Whether a text is a PCI address as Linux writes it."""
    return _ADDRESS.fullmatch(text) is not None


def address_order(pci: str) -> tuple[int, ...]:
    """Sort key of a PCI address."""
    return tuple(int(number, 16) for number in re.split("[:.]", pci))


def assembled(parts: Iterable[DevicePart]) -> tuple[Device, ...]:
    """Devices of these parts, in the order of PCI addresses, those on other buses last.

    GPUs on a PCI bus get the names `gpu0`, `gpu1`, … in this order, where no device has that name
    already.
    """
    together: dict[tuple[str, str], list[DevicePart]] = {}
    for part in parts:
        together.setdefault((part.pci, "" if part.pci else part.name), []).append(part)
    found = []
    taken = {part.name for group in together.values() for part in group}
    gpus = 0
    for (pci, _), group in sorted(together.items(), key=lambda item: _order(*item[0])):
        names = tuple(dict.fromkeys(part.name for part in group if part.name))
        function = next((part for part in group if not part.name), group[0])
        if function.kind == "gpu" and not function.name:
            alias = f"gpu{gpus}"
            gpus += 1
            names = names if alias in taken else (alias, *names)
        placed = next((part for part in group if part.nodes or part.cpus), function)
        found.append(Device(names, function.kind, pci, placed.nodes, placed.cpus))
    return tuple(found)


def _order(pci: str, name: str) -> tuple[bool, Sequence[int], str]:
    return (not pci, address_order(pci) if pci else (), name)
