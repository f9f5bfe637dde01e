"""Devices in the picture of a machine: a box each in the node that they hang on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from autofinity.foreign_text import one_line
from autofinity.model.devices import Device
from autofinity.model.topology import Topology
from autofinity.report.device_list import names_text, place_of, where_text
from autofinity.report.nested_boxes import LETTER, Box

_PAD, _HEIGHT = 5, 18

type ByNode = Mapping[int, Sequence[Device]]
"""Devices of each logical node."""


def devices_by_node(topology: Topology, devices: Sequence[Device]) -> ByNode:
    """Devices that hang on one node, which is in one socket."""
    found: dict[int, list[Device]] = {}
    for device in devices:
        node = _own_node(topology, device)
        if device.is_driven and node is not None:
            found.setdefault(node, []).append(device)
    return found


def lines_of_others(topology: Topology, devices: Sequence[Device]) -> list[str]:
    """A line for each place of the other devices: several nodes, or none that is known."""
    names: dict[str, list[str]] = {}
    for device in devices:
        if device.is_driven and _own_node(topology, device) is None:
            names.setdefault(where_text(topology, device), []).append(_name(device))
    return [f"{where}: {', '.join(some)}" for where, some in names.items()]


def device_box(device: Device) -> Box:
    """A box with the device's name; its kind and all names show under the pointer."""
    name = _name(device)
    width = round(len(name) * LETTER) + 2 * _PAD
    said = escape(f"{device.kind}: {names_text(device)}")

    def drawn(x: int, y: int) -> list[str]:
        text = f'<text x="{x + _PAD}" y="{y + 13}">{escape(name)}</text>'
        return [
            f'<g><title>{said}</title><rect class="device" x="{x}" y="{y}" width="{width}" '
            f'height="{_HEIGHT}" rx="3"/>{text}</g>'
        ]

    return Box(width, _HEIGHT, drawn)


def _own_node(topology: Topology, device: Device) -> int | None:
    """Logical node of a device that hangs on one node, which is in one socket; None elsewhere."""
    place = place_of(topology, device)
    return min(place.nodes) if len(place.nodes) == len(place.packages) == 1 else None


def _name(device: Device) -> str:
    return one_line(device.names[0] if device.names else device.pci or device.kind)
