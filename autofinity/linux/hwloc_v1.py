"""Reads hwloc 1.x XML, which hwloc itself no longer reads from version 3 on.

Differences from 2.x: the file names no version; NUMA nodes enclose the caches and cores of their
PUs; caches are one type with a depth; offline PUs are listed, too; a matrix of distances is in the
object that encloses its objects, as multiples of a base.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

_ROOT = re.compile(r"<(topology|root)\b([^>]*)>")
_NODES = frozenset({"NUMANode", "Node"})
_PACKAGES = frozenset({"Socket", "Package"})
_DATA_CACHES = frozenset({"0", "1", None})  # unified, data, not given
_WORD_BITS = 32
_PCI_TYPE = re.compile(r"([0-9a-f]{4}) \[([0-9a-f]{4}):([0-9a-f]{4})\]")
_NO_PCI: Mapping[str, Any] = {"pci": "", "ids": None}
_OS_DEVICE_TYPES = {"0": 1, "1": 4, "2": 16, "3": 32, "5": 8}
"""hwloc 3's bit of each type of OS device that threads drive: storage, GPU, network, OpenFabrics,
co-processor."""


def is_version_1(text: str) -> bool:
    """Whether an XML document is of hwloc 1.x (or 0.9)."""
    found = _ROOT.search(text)
    return found is not None and "version=" not in found[2]


def describe_version_1(text: str) -> dict[str, Any]:
    """Description as from `hwloc_child.describe`. Raises `ValueError` for another kind of
    document.
    """
    machine = _machine(text)
    online = _cpus(machine.get("online_cpuset"))
    allowed = _cpus(machine.get("allowed_cpuset"))
    found = _Found()
    found.walk(machine, ())
    pus = [pu for pu in found.pus if online is None or pu["os_index"] in online]
    present = {pu["os_index"] for pu in pus}
    for node in found.nodes:
        node["cpus"] = sorted(present.intersection(node["cpus"]))
    return {
        "pus": pus,
        "nodes": found.nodes or [_only_node(machine, present)],
        "caches": found.caches,
        "distances": found.distances,
        "allowed": sorted(present if allowed is None else present & allowed),
        "allowed_nodes": sorted(_allowed_nodes(machine, found.nodes)),
        "kinds_unranked": False,
        "model": found.model,
    }


def devices_version_1(text: str) -> list[dict[str, Any]]:
    """I/O devices as from `hwloc_child.devices`. Raises as `describe_version_1`."""
    machine = _machine(text)
    found: list[dict[str, Any]] = []
    several = sum(each.get("type") in _NODES for each in machine.iter("object")) > 1
    _walk_devices(machine, machine, machine if several else None, found)
    return found


def _walk_devices(
    element: ElementTree.Element,
    holder: ElementTree.Element,
    everywhere: ElementTree.Element | None,
    found: list[dict[str, Any]],
    pci: Mapping[str, Any] = _NO_PCI,
) -> None:
    """Add the devices below; `holder` is the innermost object around that has CPUs."""
    kind = element.get("type", "")
    if kind == "PCIDev":
        ids = _PCI_TYPE.match(element.get("pci_type", ""))
        pci = {
            "pci": element.get("pci_busid", ""),
            "ids": [int(number, 16) for number in ids.groups()] if ids else None,
        }
    if kind in ("PCIDev", "OSDev"):
        nowhere = holder is everywhere
        place = {
            name: [] if nowhere else sorted(_cpus(holder.get(f"{word}set")) or ())
            for name, word in (("nodes", "node"), ("cpus", "cpu"))
        }
        named = {"name": "", "types": 0}
        if kind == "OSDev":
            types = _OS_DEVICE_TYPES.get(element.get("osdev_type", ""), 0)
            named = {"name": element.get("name", ""), "types": types}
        found.append({**named, **pci, **place})
    elif kind != "Bridge":
        holder = element
    for child in element.findall("object"):
        _walk_devices(child, holder, everywhere, found, pci)


def _machine(text: str) -> ElementTree.Element:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"it is no XML: {error}") from None
    machine = root.find("object")
    if machine is None:
        raise ValueError("it is no hwloc XML: it holds no object")
    return machine


class _Found:
    """Objects below an object, in logical order."""

    def __init__(self) -> None:
        self.pus: list[dict[str, Any]] = []
        self.nodes: list[dict[str, Any]] = []
        self.caches: dict[int, dict[str, int]] = {}
        self.distances: list[dict[str, Any]] = []
        self.model = ""
        self._objects = 0

    def walk(self, element: ElementTree.Element, above: tuple[tuple[int, str, bool], ...]) -> None:
        """Visit an element and all below; `above` has the number, the type and whether it is a data
        cache of each object around it.
        """
        number, kind = self._objects, element.get("type", "")
        self._objects += 1
        is_data = kind == "Cache" and element.get("cache_type") in _DATA_CACHES
        if is_data:
            self.caches[number] = {
                "level": _number(element, "depth"),
                "size_bytes": _number(element, "cache_size"),
                "line_bytes": _number(element, "cache_linesize"),
                "ways": _number(element, "cache_associativity"),
            }
        if kind in _NODES:
            self.nodes.append(_node(element))
        if kind == "PU":
            self.pus.append(_pu(element, above))
        for info in element.findall("info"):
            if info.get("name") == "CPUModel" and not self.model:
                self.model = " ".join(info.get("value", "").split())
        nodes_before = len(self.nodes)
        for child in element.findall("object"):
            self.walk(child, (*above, (number, kind, is_data)))
        for matrix in element.findall("distances"):
            self._add_distances(matrix, [n["os_index"] for n in self.nodes[nodes_before:]])

    def _add_distances(self, matrix: ElementTree.Element, nodes: list[int]) -> None:
        """Add the distances between the nodes below.

        Matrices of other objects have another size, or repeat the distances of the nodes that they
        enclose.
        """
        base = float(matrix.get("latency_base", "1"))
        values = [float(cell.get("value", "nan")) * base for cell in matrix.findall("latency")]
        n = len(nodes)
        if _number(matrix, "nbobjs") == n and len(values) == n * n and all(v >= 0 for v in values):
            rows = [[round(value) for value in values[i * n : (i + 1) * n]] for i in range(n)]
            self.distances.append({"nodes": nodes, "rows": rows})


def _pu(element: ElementTree.Element, above: tuple[tuple[int, str, bool], ...]) -> dict[str, Any]:
    def innermost(kinds: frozenset[str]) -> int:
        return next((number for number, kind, _ in reversed(above) if kind in kinds), -1)

    os_index = _number(element, "os_index", -1)
    if os_index < 0:
        raise ValueError("it has a PU without an os_index")
    return {
        "os_index": os_index,
        "package": innermost(_PACKAGES),
        "core": innermost(frozenset({"Core"})),
        "caches": [number for number, _, is_data in reversed(above) if is_data],
        "efficiency": 0,
    }


def _node(element: ElementTree.Element) -> dict[str, Any]:
    pages = sum(
        _number(page, "size") * _number(page, "count") for page in element.findall("page_type")
    )
    return {
        "os_index": _number(element, "os_index"),
        "cpus": sorted(_cpus(element.get("cpuset")) or ()),
        "subtype": "",
        "memory_bytes": _number(element, "local_memory") or pages,
    }


def _only_node(machine: ElementTree.Element, cpus: set[int]) -> dict[str, Any]:
    """The only node of a machine without nodes, which has its memory itself: node 0, as in hwloc
    2.
    """
    return {**_node(machine), "os_index": 0, "cpus": sorted(cpus)}


def _allowed_nodes(machine: ElementTree.Element, nodes: list[dict[str, Any]]) -> set[int]:
    allowed = _cpus(machine.get("allowed_nodeset"))
    all_nodes = {node["os_index"] for node in nodes} or {0}
    return all_nodes if allowed is None else all_nodes & allowed


def _number(element: ElementTree.Element, name: str, default: int = 0) -> int:
    text = element.get(name, "")
    return int(text) if text.lstrip("-").isdecimal() else default


def _cpus(text: str | None) -> frozenset[int] | None:
    """Members of a set as hwloc writes it: words of 32 bits, the highest first, upper zero words
    left out.

    None for a set that is absent or infinite.
    """
    if not text or "f...f" in text:
        return None
    try:
        words = [int(word, 16) if word.strip() else 0 for word in text.split(",")]
    except ValueError:
        raise ValueError(f"{text[:40]!r} is no set of CPUs or nodes") from None
    found: set[int] = set()
    for at, word in enumerate(reversed(words)):
        if word >> _WORD_BITS:
            raise ValueError(f"{text[:40]!r} is no set of CPUs or nodes")
        found.update(at * _WORD_BITS + bit for bit in range(_WORD_BITS) if word >> bit & 1)
    return frozenset(found)
