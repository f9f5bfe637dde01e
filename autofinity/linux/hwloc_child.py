"""Asks hwloc for a machine, in a process of its own, and prints the answer as one JSON document.

Run as a program, with the words `host|xml|xml-reduced|synthetic VALUE machine|devices`. hwloc's
loader can crash or run without end on files from outside (measured: SIGSEGV on two of 38 recorded
machines with hwloc 3.0), so `autofinity.linux.hwloc_process` starts this module with limits and a
time-out.

`xml-reduced` is for files that crash the loader: hwloc leaves out distances, memory attributes and
kinds of CPUs (one of these causes the crash), and distances between nodes are read here instead.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from autofinity.linux.hwloc_v1 import describe_version_1, devices_version_1, is_version_1

MEMORY_LIMIT_BYTES = 3 << 30
CPU_LIMIT_S = 15

_DISTANCES = re.compile(r'<distances2 type="NUMANode".*?</distances2>', re.DOTALL)
_CACHE_LEVELS = 5
_PAGE_TYPE = re.compile(r'<page_type\s+size="(\d+)"')


def describe(topology: Any) -> dict[str, Any]:
    """The parts of a loaded pyhwloc topology that autofinity uses, as plain lists and numbers.

    Objects are named by hwloc's `gp_index`; every PU carries the chain of objects above it.
    """
    from pyhwloc.hwobject import ObjType

    nodes = [
        {
            "os_index": node.os_index,
            "cpus": _cpus(node),
            "subtype": node.subtype or "",
            "memory_bytes": node.attr.local_memory,
        }
        for node in topology.iter_numa_nodes()
    ]
    kinds = topology.get_cpukinds()
    efficiency: dict[int, int] = {}
    unranked = False
    for kind in range(kinds.n_kinds()):
        cpus, rank, _ = kinds.get_info(kind)
        unranked |= rank < 0 and kinds.n_kinds() > 1
        efficiency.update(dict.fromkeys(cpus, max(rank, 0)))
    level_of = {getattr(ObjType, f"L{n}CACHE"): n for n in range(1, _CACHE_LEVELS + 1)}
    model = str(topology.get_root_obj().info.get("CPUModel", ""))
    pus = []
    caches: dict[int, dict[str, int]] = {}
    for pu in topology.iter_cpus():
        entry: dict[str, Any] = {"os_index": pu.os_index, "package": -1, "core": -1, "caches": []}
        above = pu.parent
        while above is not None:
            if above.type == ObjType.CORE:
                entry["core"] = above.gp_index
            elif above.type == ObjType.PACKAGE:
                entry["package"] = above.gp_index
                model = model or str(above.info.get("CPUModel", ""))
            elif above.type in level_of:
                entry["caches"].append(above.gp_index)
                caches[above.gp_index] = _cache(above.attr, level_of[above.type])
            above = above.parent
        entry["efficiency"] = efficiency.get(pu.os_index, 0)
        pus.append(entry)
    return {
        "pus": pus,
        "nodes": nodes,
        "caches": caches,
        "distances": _distances(topology),
        "allowed": list(topology.allowed_cpuset),
        "allowed_nodes": list(topology.allowed_nodeset),
        "kinds_unranked": unranked,
        "model": " ".join(model.split()),
    }


def devices(topology: Any) -> list[dict[str, Any]]:
    """I/O devices of a loaded pyhwloc topology: OS devices, and PCI functions without one.

    `nodes` and `cpus` are those of the object that a device hangs on; empty where that is the whole
    machine of several nodes. `types` is hwloc's set of types of an OS device, 0 for a PCI function.
    """
    from pyhwloc.hwobject import ObjType

    several = sum(1 for _ in topology.iter_numa_nodes()) > 1
    found = []
    for each in (*topology.iter_os_devices(), *topology.iter_pci_devices()):
        above = each
        entry: dict[str, Any] = {"name": "", "types": 0, "pci": "", "ids": None}
        if each.type == ObjType.OS_DEVICE:
            entry["name"], entry["types"] = each.name or "", each.attr.types
        while above.is_io():
            if above.type == ObjType.PCI_DEVICE and not entry["pci"]:
                pci = above.attr
                entry["pci"] = f"{pci.domain:04x}:{pci.bus:02x}:{pci.dev:02x}.{pci.func:x}"
                entry["ids"] = [pci.class_id, pci.vendor_id, pci.device_id]
            above = above.parent
        everywhere = several and above.parent is None
        entry["nodes"] = [] if everywhere else list(above.nodeset)
        entry["cpus"] = [] if everywhere else list(above.cpuset)
        found.append(entry)
    return found


def _cache(attr: Any, level: int) -> dict[str, int]:
    """Size and shape of a cache.

    pyhwloc 3.0 declares the fields of hwloc 2, and hwloc 3 moved the type to the front: there the
    level is in the place of the line size, and all later fields are one place further.
    """
    moved = attr.linesize == level
    return {
        "level": level,
        "size_bytes": attr.size,
        "line_bytes": attr.associativity if moved else attr.linesize,
        "ways": attr.type if moved else attr.associativity,
    }


def _cpus(node: Any) -> list[int]:
    cpuset = node.cpuset
    return [] if cpuset is None or cpuset.weight() < 0 else list(cpuset)


def _distances(topology: Any) -> list[dict[str, Any]]:
    """Latency matrices between NUMA nodes: OS indices of the nodes and the rows."""
    from pyhwloc.hwobject import ObjType
    from pyhwloc.topology import DistancesKind

    found = []
    for matrix in topology.get_distances(DistancesKind.VALUE_LATENCY):
        objects = matrix.objects
        if all(each.type == ObjType.NUMANODE for each in objects):
            n = len(objects)
            found.append(
                {
                    "nodes": [each.os_index for each in objects],
                    "rows": [[int(matrix[i, j]) for j in range(n)] for i in range(n)],
                }
            )
    return found


def _distances_in(text: str) -> list[dict[str, Any]]:
    """Distances as in `_distances`, from the XML itself: only matrices over OS indices of NUMA
    nodes.
    """
    found = []
    for part in _DISTANCES.findall(text):
        element = ElementTree.fromstring(part)
        nodes = [int(i) for each in element.iter("indexes") for i in (each.text or "").split()]
        values = [int(v) for each in element.iter("u64values") for v in (each.text or "").split()]
        n = len(nodes)
        if element.get("indexing") == "os" and len(values) == n * n:
            found.append({"nodes": nodes, "rows": [values[i * n : (i + 1) * n] for i in range(n)]})
    return found


def _load(kind: str, value: str, subject: str) -> dict[str, Any]:
    from pyhwloc.topology import Topology

    if kind == "host":
        return _described(Topology.from_this_system(), kind, "", subject)
    if kind == "synthetic":
        return _described(Topology.from_synthetic(value), kind, "", subject)
    text = Path(value).read_text(encoding="utf-8", errors="replace")
    if is_version_1(text):
        if subject == "devices":
            return {"devices": devices_version_1(text)}
        found = describe_version_1(text)
        found["page_sizes"] = _page_sizes(text)
        return found
    return _described(Topology.from_xml_file(value), kind, text, subject)


def _described(topology: Any, kind: str, text: str, subject: str) -> dict[str, Any]:
    from pyhwloc.hwloc.core import TopologyFlags
    from pyhwloc.topology import TypeFilter

    flags = [TopologyFlags.INCLUDE_DISALLOWED]
    if kind == "xml-reduced":
        flags += [TopologyFlags.NO_DISTANCES, TopologyFlags.NO_MEMATTRS, TopologyFlags.NO_CPUKINDS]
    topology.set_flags(flags)
    if subject == "devices":
        topology.set_io_types_filter(TypeFilter.KEEP_IMPORTANT)
        return {"devices": devices(topology.load())}
    topology.set_io_types_filter(TypeFilter.KEEP_NONE)
    found = describe(topology.load())
    found["page_sizes"] = _page_sizes(text)
    if kind == "xml-reduced":
        found["distances"] = _distances_in(text)
        found["kinds_unranked"] = text.count("<cpukind ") > 1
    return found


def _page_sizes(text: str) -> list[int]:
    return sorted({int(size) for size in _PAGE_TYPE.findall(text)} - {0})


def _mapped_bytes() -> int:
    """Address space in use: the part that the interpreter, or a sanitizer under it, has reserved
    already.
    """
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def main(argv: list[str]) -> int:
    """Print the description of the requested machine, or `{"error": …}`."""
    # Output of a library must not get into the answer.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if argv[0] != "host":
        limit = _mapped_bytes() + MEMORY_LIMIT_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        found = _load(*argv)
    except MemoryError:
        found = {"error": f"it needs more than {MEMORY_LIMIT_BYTES >> 30} GiB of memory"}
    except Exception as error:  # hwloc's own errors come as several unrelated classes
        reason = " ".join(str(error).split()) or type(error).__name__
        found = {"error": reason}
    with answer:
        json.dump(found, answer)
    # Exit without hwloc's clean-up: a crash in it would spoil a good answer.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
