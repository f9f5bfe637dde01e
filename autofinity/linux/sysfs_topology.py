"""The present machine, read from sysfs: for the run-time monitor, without hwloc.

The `Topology` equals that of `autofinity.linux.topology.host_topology` (a contract test). Logical
order is hwloc's: packages, nodes, caches and cores are nested sets of PUs, and sets side by side
are ordered by their smallest PU. Offline PUs are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autofinity.linux.kernel_file import read_number, read_size_bytes, read_text
from autofinity.linux.machine_tree import RawCache, RawMachine, RawNode, RawPU, build_topology
from autofinity.linux.online import SYSFS, isolated, listed_online, running
from autofinity.linux.pages import mems_allowed
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.errors import TopologyError, UsageError
from autofinity.model.topology import OsIndex, Topology

_SAME_KIND = 0.9
"""Ratio of capacities, or of highest clocks, above which cores are of one kind: within a kind they
differ by a few per cent (favoured cores; capacities of NVIDIA's Vera), between kinds by a fourth
and more."""


def read_sysfs(
    root: str | os.PathLike[str] = "/sys",
    *,
    allowed: frozenset[int] | None = None,
    cpuinfo: str | os.PathLike[str] = "/proc/cpuinfo",
) -> Topology:
    """The machine below `root`.

    `allowed` is by default this process's affinity mask. CPUs of that mask belong to the machine,
    whatever `online` lists, unless they are offline.

    Raises `TopologyError` when the files do not describe a machine.
    """
    system = Path(root) / "devices" / "system"
    usable = frozenset(map(OsIndex, os.sched_getaffinity(0) if allowed is None else allowed))
    # A listed CPU without a folder belongs to another machine, as a container may show it.
    listed = {cpu for cpu in listed_online(root) if (system / "cpu" / f"cpu{cpu}").is_dir()}
    online: frozenset[int] = running(usable, root) | listed
    if not online:
        raise TopologyError(
            f"{system / 'cpu' / 'online'} names no CPU; expected sysfs mounted at {root}"
        )
    parts = _Parts.read(system / "cpu", online)
    nodes = _nodes(system / "node", online)
    order = parts.logical_order(nodes)
    position = {cpu: i for i, cpu in enumerate(order)}
    nodes.sort(key=lambda node: _first(node, position))
    numbers = {cache: i for i, cache in enumerate(parts.caches)}
    kinds = kinds_of_cores(Path(root), online)
    pus = tuple(
        RawPU(
            cpu,
            parts.packages[cpu],
            min(parts.cores[cpu]),
            tuple(numbers[cache] for cache in parts.above[cpu]),
            kinds.get(cpu, 0),
            max((level for level, _ in parts.above[cpu]), default=0),
        )
        for cpu in order
    )
    ours = mems_allowed(os.getpid()) if os.fspath(root) == SYSFS else frozenset()
    raw = RawMachine(
        pus=pus,
        nodes=tuple(nodes),
        # Only the shapes that a topology keeps are read: each needs four files.
        caches={
            numbers[cache]: _shape(cache[0], parts.caches[cache]) for cache in parts.above[order[0]]
        },
        distances=_distances(system / "node", nodes),
        allowed=usable & online,
        model=_model(Path(cpuinfo)),
        page_sizes_bytes=page_sizes_bytes(Path(root)),
        allowed_nodes=ours or None,
        isolated=isolated(root),
    )
    return build_topology(raw, "host", "host")


def page_sizes_bytes(root: Path) -> tuple[int, ...]:
    """Page sizes that the kernel offers, the base page first."""
    huge = root / "kernel" / "mm" / "hugepages"
    sizes = {os.sysconf("SC_PAGE_SIZE")}
    if huge.is_dir():
        for folder in huge.iterdir():
            kib = folder.name.removeprefix("hugepages-").removesuffix("kB")
            if kib.isdigit():
                sizes.add(int(kib) * 1024)
    return tuple(sorted(sizes))


def _cpu_list(path: Path) -> frozenset[int]:
    try:
        return parse_cpu_list(read_text(path))
    except UsageError:
        raise TopologyError(f"{path} is not a CPU list: {read_text(path).strip()!r}") from None


type _CacheKey = tuple[int, frozenset[int]]
"""Level of a cache, and the PUs that share it."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """Cores, caches and packages around each PU, by the kernel's numbers."""

    packages: Mapping[int, int]
    cores: Mapping[int, frozenset[int]]
    """PUs of the core that a PU belongs to."""
    above: Mapping[int, Sequence[_CacheKey]]
    """Caches above a PU, innermost first."""
    caches: Mapping[_CacheKey, Path]
    """The folder of each cache, in the order in which PUs name them."""

    @staticmethod
    def read(folder: Path, online: frozenset[int]) -> _Parts:
        """Parts around the PUs that are online. Raises `TopologyError`."""
        packages: dict[int, int] = {}
        cores: dict[int, frozenset[int]] = {}
        above: dict[int, list[_CacheKey]] = {}
        caches: dict[_CacheKey, Path] = {}
        for cpu in sorted(online):
            own = folder / f"cpu{cpu}"
            packages[cpu] = read_number(own / "topology" / "physical_package_id", -1)
            siblings = _cpu_list(own / "topology" / "core_cpus_list") or _cpu_list(
                own / "topology" / "thread_siblings_list"
            )
            cores[cpu] = (siblings & online) or frozenset({cpu})
            above[cpu] = _caches_of(own / "cache", cpu, online, caches)
        return _Parts(packages, cores, above, caches)

    def logical_order(self, nodes: Iterable[RawNode]) -> list[int]:
        """The PUs in hwloc's order: sets side by side by their smallest PU."""
        by_package: dict[int, set[int]] = {}
        for cpu, package in self.packages.items():
            by_package.setdefault(package, set()).add(cpu)
        sets = {frozenset(cpus) for cpus in by_package.values()} | set(self.cores.values())
        sets |= {cpus for _, cpus in self.caches}
        sets |= {node.cpus for node in nodes if node.cpus}
        places = _places(sets)
        return sorted(self.packages, key=lambda cpu: ([first for _, first in places[cpu]], cpu))


def _caches_of(
    folder: Path, cpu: int, online: frozenset[int], known: dict[_CacheKey, Path]
) -> list[_CacheKey]:
    """Data and unified caches above a PU, innermost first; their folders go into `known`."""
    found = []
    for index in folder.glob("index[0-9]*") if folder.is_dir() else ():
        if read_text(index / "type").strip() not in ("Data", "Unified"):
            continue
        level = read_number(index / "level")
        shared = (_cpu_list(index / "shared_cpu_list") & online) or frozenset({cpu})
        known.setdefault((level, shared), index)
        found.append((level, shared))
    return sorted(found, key=lambda cache: cache[0])


def _shape(level: int, folder: Path) -> RawCache:
    # As in hwloc, 0 ways in sysfs means fully associative.
    ways = read_number(folder / "ways_of_associativity")
    return RawCache(
        level,
        read_size_bytes(folder / "size"),
        read_number(folder / "coherency_line_size"),
        ways or (-1 if (folder / "ways_of_associativity").exists() else 0),
    )


def _nodes(folder: Path, online: frozenset[int]) -> list[RawNode]:
    """NUMA nodes by OS index; empty where the kernel shows none."""
    if not folder.is_dir():
        return []
    numbers = sorted(
        int(entry.name[4:])
        for entry in folder.iterdir()
        if entry.name.startswith("node") and entry.name[4:].isdigit()
    )
    listed = _cpu_list(folder / "online")
    # Empty where the kernel has no such file: then all nodes have memory.
    with_memory = _cpu_list(folder / "has_memory")
    return [
        RawNode(
            number,
            _cpu_list(folder / f"node{number}" / "cpulist") & online,
            number in with_memory or not with_memory,
        )
        for number in numbers
        if not listed or number in listed
    ]


def _places(sets: set[frozenset[int]]) -> dict[int, list[tuple[int, int]]]:
    """Sort key of each PU: the smallest PU of every set around it, widest first."""
    around: dict[int, list[tuple[int, int]]] = {}
    for each in sets:
        key = (-len(each), min(each))
        for cpu in each:
            around.setdefault(cpu, []).append(key)
    return {cpu: sorted(keys) for cpu, keys in around.items()}


def _first(node: RawNode, position: dict[int, int]) -> tuple[int, int, int]:
    """Sort key that orders nodes by their first PU; nodes without PUs last, by number."""
    if not node.cpus:
        return (1, 0, node.os_index)
    return (0, min(position[cpu] for cpu in node.cpus), node.os_index)


def _distances(folder: Path, nodes: list[RawNode]) -> dict[tuple[int, int], int]:
    """Distances from the rows of the SLIT: the kernel lists the online nodes in ascending order."""
    columns = sorted(node.os_index for node in nodes)
    found: dict[tuple[int, int], int] = {}
    for node in nodes:
        row = read_text(folder / f"node{node.os_index}" / "distance").split()
        if len(row) == len(columns):
            for other, value in zip(columns, row, strict=True):
                found[node.os_index, other] = int(value)
    # hwloc takes no matrix for a single node, so neither do we.
    return found if len(nodes) > 1 else {}


def kinds_of_cores(root: Path, online: frozenset[int]) -> dict[int, int]:
    """Kind of each PU on hybrid machines, larger is faster; empty on machines of one kind.

    The kinds are Intel's core types, else the kernel's capacities, else highest clocks.
    """
    types = [
        cpus & online
        for kind in ("cpu_lowpower", "cpu_atom", "cpu_core")
        if (cpus := _cpu_list(root / "devices" / kind / "cpus"))
    ]
    cpu = root / "devices" / "system" / "cpu"
    if len(types) < 2:
        types = _by_value({n: read_number(cpu / f"cpu{n}" / "cpu_capacity") for n in online})
    if len(types) < 2 and (cpu / f"cpu{min(online)}" / "cpufreq").is_dir():
        clocks = {n: read_number(cpu / f"cpu{n}" / "cpufreq" / "cpuinfo_max_freq") for n in online}
        types = _by_value(clocks)
    return {n: rank for rank, cpus in enumerate(types) for n in cpus}


def _by_value(values: Mapping[int, int]) -> list[frozenset[int]]:
    """PUs grouped by value, small values first; values within `_SAME_KIND` of the largest of a
    group are equal.
    """
    groups: list[frozenset[int]] = []
    largest = 0
    for value in sorted(set(values.values()), reverse=True):
        cpus = frozenset(n for n, own in values.items() if own == value)
        if groups and value >= _SAME_KIND * largest:
            groups[-1] |= cpus
        else:
            groups.append(cpus)
            largest = value
    return groups[::-1]


def _model(cpuinfo: Path) -> str:
    for line in read_text(cpuinfo).splitlines():
        key, _, value = line.partition(":")
        if key.strip().lower() in ("model name", "cpu"):
            return " ".join(value.split())
    return ""
