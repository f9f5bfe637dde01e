"""Machines through hwloc: the present machine, an hwloc XML file, or a synthetic description.

`machine_tree` has the rules that make a `Topology` from packages, caches, cores and nodes. The
run-time monitor uses `sysfs_topology` instead, which needs neither hwloc nor a child process.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from autofinity.linux.hwloc_process import ask_host, ask_synthetic, ask_xml
from autofinity.linux.machine_tree import RawMachine, build_topology
from autofinity.linux.online import SYSFS, isolated
from autofinity.linux.sysfs_topology import kinds_of_cores, page_sizes_bytes, read_sysfs
from autofinity.model.errors import TopologyError
from autofinity.model.topology import Topology


def host_topology() -> Topology:
    """The present machine. Raises `TopologyError` when it cannot be read.

    The allowed PUs are those of this process's affinity mask, which the kernel keeps within the
    cpuset of the cgroup. Where hwloc sees other PUs (a container's /sys), sysfs is read instead.
    """
    allowed = frozenset(os.sched_getaffinity(0))
    try:
        raw = ask_host()
    except TopologyError:
        return read_sysfs()
    if not allowed <= {pu.os_index for pu in raw.pus}:
        return read_sysfs()
    return build_topology(as_sysfs_has_it(raw, allowed, Path(SYSFS)), "host", "host")


def as_sysfs_has_it(raw: RawMachine, allowed: frozenset[int], root: Path) -> RawMachine:
    """The machine of hwloc with these allowed PUs, and with the facts that hwloc has otherwise than
    the sysfs at `root`: page sizes, and kinds of cores, of which hwloc makes one of each capacity.
    Isolated CPUs are known from there alone.
    """
    kinds = kinds_of_cores(root, frozenset(pu.os_index for pu in raw.pus))
    return replace(
        raw,
        pus=tuple(replace(pu, efficiency=kinds.get(pu.os_index, 0)) for pu in raw.pus),
        allowed=allowed,
        page_sizes_bytes=page_sizes_bytes(root),
        isolated=isolated(root),
    )


def xml_topology(path: str | os.PathLike[str]) -> Topology:
    """A recorded machine, named after the file. hwloc reads the file in a child process with
    limits.

    Raises `TopologyError`, which names file and reason, whatever the file holds.
    """
    file = Path(path)
    return build_topology(ask_xml(file), file.stem, "file")


def synthetic_topology(text: str) -> Topology:
    """An invented machine, for example `pack:4 numa:2 l3:1 core:6 pu:1`. Distances are 10 and 20.

    Raises `TopologyError`, which names the text and the reason.
    """
    return build_topology(ask_synthetic(text), f"synthetic:{text}", "synthetic")
