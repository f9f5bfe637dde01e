"""The kernel's state of a running program's threads, and a machine tree for placing them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.topology import OsIndex


def masks_of(pid: int) -> list[frozenset[OsIndex]]:
    """Masks of all threads, from the kernel."""
    tids = sorted(int(task.name) for task in Path(f"/proc/{pid}/task").iterdir())
    return [mask_of_task(pid, tid) for tid in tids]


def mask_of_task(pid: int, tid: int) -> frozenset[OsIndex]:
    """Mask of one thread, from the kernel; the process and the thread may be one id."""
    # The name of the process is in it, whatever bytes that has.
    status = Path(f"/proc/{pid}/task/{tid}/status").read_text(errors="replace")
    line = next(line for line in status.splitlines() if line.startswith("Cpus_allowed_list:"))
    return parse_cpu_list(line.split(":")[1])


def allowed() -> frozenset[OsIndex]:
    return frozenset(OsIndex(cpu) for cpu in os.sched_getaffinity(0))


def in_caches_of_their_own(pid: int) -> bool:
    """Whether the two computing threads are on a last-level cache each: a CPU, in `fake_sysfs`."""
    computing = masks_of(pid)[1:]
    return len(computing) == 2 and set(computing) == {
        frozenset({cpu}) for cpu in sorted(allowed())[:2]
    }


def fake_sysfs(
    folder: Path,
    cpus: Sequence[OsIndex] = (),
    cores_of_llc: int = 1,
    cores_of_socket: int = 0,
    *,
    node_of_cpu: bool = False,
) -> Path:
    """A machine with a core for each of `cpus`; without `cpus`, a core for each allowed CPU.

    A cache is a socket of its own, unless `cores_of_socket` says how large sockets are. All are on
    one node, or each CPU on its own.
    """
    system = folder / "sys" / "devices" / "system"
    shown = sorted(cpus or allowed())
    cores_of_socket = cores_of_socket or cores_of_llc
    for cpu in shown:
        topology = system / "cpu" / f"cpu{cpu}" / "topology"
        cache = system / "cpu" / f"cpu{cpu}" / "cache" / "index3"
        topology.mkdir(parents=True)
        cache.mkdir(parents=True)
        (topology / "physical_package_id").write_text(f"{cpu // cores_of_socket}\n")
        (topology / "core_cpus_list").write_text(f"{cpu}\n")
        first = cpu - cpu % cores_of_llc
        shared = list(map(OsIndex, range(first, first + cores_of_llc)))
        for name, value in {
            "level": "3",
            "type": "Unified",
            "size": "1024K",
            "coherency_line_size": "64",
            "ways_of_associativity": "16",
            "shared_cpu_list": format_cpu_list(shared),
        }.items():
            (cache / name).write_text(value + "\n")
        if node_of_cpu:
            node = system / "node" / f"node{cpu}"
            node.mkdir(parents=True)
            (node / "cpulist").write_text(f"{cpu}\n")
    for part in ("cpu", "node") if node_of_cpu else ("cpu",):
        (system / part / "online").write_text(format_cpu_list(shown) + "\n")
    return folder / "sys"
