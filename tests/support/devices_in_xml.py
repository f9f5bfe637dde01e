"""Machines with devices as hwloc's XML, made here: PCI functions are hung in exported machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

VERSION = "2.0"
"""Version of the document, which numbers OS devices as below; later ones have bits."""
STORAGE, GPU, NETWORK, OPENFABRICS = "0", "1", "2", "3"


@dataclass(frozen=True, slots=True)
class Hung:
    """A PCI function below the object of `type` with this number, counted from 0."""

    type: str
    at: int
    pci: str
    ids: str
    """Class, vendor and device, as hwloc writes them: `0302 [10de:20b0]`."""
    name: str = ""
    """That a driver gives it; empty: no driver does."""
    kind: str = ""


def with_devices(text: str, devices: Sequence[Hung]) -> str:
    """The document `text` with a host bridge for each of `devices`."""
    root = ElementTree.fromstring(text)
    root.set("version", VERSION)
    for number, device in enumerate(devices):
        objects = [each for each in root.iter("object") if each.get("type") == device.type]
        _hang(objects[device.at], device, 9000 + 3 * number)
    return ElementTree.tostring(root, encoding="unicode")


def _hang(above: Element, device: Hung, index: int) -> None:
    domain, bus, _ = device.pci.split(":")
    bridge = SubElement(
        above,
        "object",
        type="Bridge",
        gp_index=str(index),
        bridge_type="0-1",
        depth="0",
        bridge_pci=f"{domain}:[{bus}-{bus}]",
    )
    function = SubElement(
        bridge,
        "object",
        type="PCIDev",
        gp_index=str(index + 1),
        pci_busid=device.pci,
        pci_type=f"{device.ids} [0000:0000] 00",
        pci_link_speed="0.0",
    )
    if device.name:
        SubElement(
            function,
            "object",
            type="OSDev",
            gp_index=str(index + 2),
            name=device.name,
            osdev_type=device.kind,
        )
