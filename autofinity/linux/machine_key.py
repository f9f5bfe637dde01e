"""Names a machine by the facts that its core sets depend on, so that machines may share a state
folder.

A home directory is often the same on all nodes of a cluster, and a mask that was chosen on one node
means other CPUs on a node of another kind. The launcher makes the same key (`machine.c`).
"""

from __future__ import annotations

from autofinity.linux.kernel_file import read_text
from autofinity.linux.online import sysfs_root
from autofinity.linux.sha256 import sha256_hex
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.errors import UsageError

_CPU = "devices/system/cpu"
_NODE = "devices/system/node"


def machine_key(sysfs: str | None = None) -> str:
    """16 hexadecimal digits of a hash of the CPU model, the CPUs, and the CPUs of the first
    last-level cache and of each node.

    `sysfs`: the tree to read; by default `sysfs_root`. A missing file counts as empty.
    """
    root = sysfs or sysfs_root()

    def line(name: str) -> str:
        return read_text(f"{root}/{name}").split("\n", 1)[0]

    online = line(f"{_NODE}/online")
    names = [
        f"{_CPU}/present",
        f"{_CPU}/cpu0/cache/index3/shared_cpu_list",
        *(f"{_NODE}/node{node}/cpulist" for node in _numbers(online)),
    ]
    model = line(f"{_CPU}/modalias").split(":feature:")[0]  # features change with the kernel
    text = "".join(part + "\0" for part in [model, *map(line, names)])
    return sha256_hex(text.encode())[:16]


def _numbers(text: str) -> list[int]:
    try:
        return sorted(parse_cpu_list(text))
    except UsageError:
        return []
