"""Write a sysfs tree of a `Topology`, in the form that the kernel would give that machine."""

from __future__ import annotations

from pathlib import Path

from autofinity.model.topology import Topology


def write_sysfs(root: Path, topology: Topology, *, clustered: bool = False) -> Path:
    """Fill `root` and return it. Last-level caches are written as an L3 and every core gets an L1;
    a domain of one core gets no L3. `clustered`: the L3 of a package is shown as one, whose parts
    the domains are.
    """
    cpu_folder = root / "devices" / "system" / "cpu"
    node_folder = root / "devices" / "system" / "node"
    _write(cpu_folder / "online", _list(pu.os_index for pu in topology.pus))
    for pu in topology.pus:
        folder = cpu_folder / f"cpu{pu.os_index}"
        core = [other.os_index for other in topology.pus if other.core == pu.core]
        llc = [
            other.os_index
            for other in topology.pus
            if (other.package == pu.package if clustered else other.llc == pu.llc)
        ]
        _write(folder / "topology" / "physical_package_id", str(pu.package))
        _write(folder / "topology" / "core_cpus_list", _list(core))
        _write(folder / "cpu_capacity", str(512 * (1 + pu.efficiency)))
        _cache(folder / "cache" / "index0", 1, "Data", "32K", core)
        _cache(folder / "cache" / "index1", 1, "Instruction", "32K", core)
        if len(llc) > len(core):
            _cache(folder / "cache" / "index2", 3, "Unified", "8M", llc)
    _write(node_folder / "online", _list(topology.node_os_indices))
    columns = sorted(range(topology.n_nodes), key=lambda node: topology.node_os_indices[node])
    for node, os_index in enumerate(topology.node_os_indices):
        folder = node_folder / f"node{os_index}"
        _write(folder / "cpulist", _list(pu.os_index for pu in topology.pus if pu.node == node))
        _write(folder / "distance", " ".join(str(topology.distances[node][b]) for b in columns))
    return root


def _cache(folder: Path, level: int, kind: str, size: str, shared: list[int]) -> None:
    for name, text in {
        "level": str(level),
        "type": kind,
        "size": size,
        "coherency_line_size": "64",
        "ways_of_associativity": "8",
        "shared_cpu_list": _list(shared),
    }.items():
        _write(folder / name, text)


def _list(numbers: object) -> str:
    return ",".join(str(n) for n in sorted(numbers))  # type: ignore[call-overload]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
