"""hwloc 2 XML in the form of hwloc 1.11: nodes around the objects that they are local to, caches of
one type, distances in the machine.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_CACHE = re.compile(r"L(\d)(i?)Cache")


def as_version_1(text: str) -> str | None:
    """The document; None where version 1 cannot describe the machine: memory beside memory, or
    kinds of memory.
    """
    root = ElementTree.fromstring(text)
    machine = root.find("object")
    assert machine is not None
    if "MemCache" in text or "subtype" in "".join(
        str(node.attrib) for node in root.iter("object") if node.get("type") == "NUMANode"
    ):
        return None
    nodes = [each for each in root.iter("object") if each.get("type") == "NUMANode"]
    order = [int(node.get("os_index", "0")) for node in nodes]
    machine.set("online_cpuset", machine.get("complete_cpuset", ""))
    if not all(_moved(each) for each in list(root.iter("object"))):
        return None
    if any(node is not other for node in nodes for other in node.iter("object") if other in nodes):
        return None
    _renamed(root)
    for matrix in root.findall("distances2"):
        if matrix.get("type") == "NUMANode" and matrix.find("indexes") is not None:
            machine.insert(0, _distances(matrix, order))
    root.attrib.clear()
    for child in list(root):
        if child.tag != "object":
            root.remove(child)
    return ElementTree.tostring(root, encoding="unicode")


def _moved(parent: Element) -> bool:
    nodes = [each for each in parent.findall("object") if each.get("type") == "NUMANode"]
    if len(nodes) > 1:
        return False
    for node in nodes:
        for child in [each for each in parent.findall("object") if each is not node]:
            parent.remove(child)
            node.append(child)
    return True


def _renamed(root: Element) -> None:
    for each in root.iter("object"):
        cache = _CACHE.fullmatch(each.get("type", ""))
        if cache:
            each.set("type", "Cache")
            each.set("depth", cache[1])
            each.set("cache_type", "2" if cache[2] else each.get("cache_type", "0"))
        elif each.get("type") == "Package":
            each.set("type", "Socket")


def _distances(matrix: Element, order: list[int]) -> Element:
    def numbers(tag: str) -> list[int]:
        return [int(word) for each in matrix.iter(tag) for word in (each.text or "").split()]

    indexes, values = numbers("indexes"), numbers("u64values")
    n = len(indexes)
    cell = {(a, b): values[i * n + j] for i, a in enumerate(indexes) for j, b in enumerate(indexes)}
    made = Element("distances", nbobjs=str(n), relative_depth="1", latency_base="10.000000")
    for a in order:
        for b in order:
            ElementTree.SubElement(made, "latency", value=f"{cell[a, b] / 10:.6f}")
    return made
