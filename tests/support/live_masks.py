"""What the kernel has of a running program's threads, and a machine tree to steer them by."""

from __future__ import annotations

import os
from pathlib import Path

from autofinity.linux.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.topology import OsIndex


def masks_of(pid: int) -> list[frozenset[OsIndex]]:
    """Masks of all threads, as the kernel has them."""
    found = []
    for task in sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda path: int(path.name)):
        for line in (task / "status").read_text().splitlines():
            if line.startswith("Cpus_allowed_list:"):
                found.append(parse_cpu_list(line.split(":")[1]))
    return found


def allowed() -> frozenset[OsIndex]:
    return frozenset(OsIndex(cpu) for cpu in os.sched_getaffinity(0))


def fake_sysfs(folder: Path) -> Path:
    """A machine whose every CPU has a last-level cache of its own."""
    system = folder / "sys" / "devices" / "system"
    cpus = sorted(allowed())
    for cpu in cpus:
        topology = system / "cpu" / f"cpu{cpu}" / "topology"
        cache = system / "cpu" / f"cpu{cpu}" / "cache" / "index3"
        topology.mkdir(parents=True)
        cache.mkdir(parents=True)
        (topology / "physical_package_id").write_text("0\n")
        (topology / "core_cpus_list").write_text(f"{cpu}\n")
        for name, value in {
            "level": "3",
            "type": "Unified",
            "size": "1024K",
            "coherency_line_size": "64",
            "ways_of_associativity": "16",
            "shared_cpu_list": str(cpu),
        }.items():
            (cache / name).write_text(value + "\n")
    (system / "cpu" / "online").write_text(format_cpu_list(cpus) + "\n")
    return folder / "sys"
