"""A drop-in for a service of systemd: CPUs of its processes, and nodes of their memory.

Source: systemd.exec(5). Threads on one node prefer that node, which does not end a program whose
node is full; threads on several nodes have pages on the node that first touches them.
"""

from __future__ import annotations

from autofinity.affinity.launchers.form import LauncherForm, Task, ascending, for_each


def _drop_in(task: Task) -> str:
    lines = ["[Service]", f"CPUAffinity={ascending(task.cpus, ' ')}"]
    if len(task.nodes) == 1:
        lines += ["NUMAPolicy=preferred", f"NUMAMask={task.nodes[0]}"]
    else:
        lines.append("NUMAPolicy=local")
    return "\n".join(lines)


SYSTEMD_UNIT = LauncherForm(
    "a service of systemd (systemctl edit)",
    for_each(_drop_in),
    file="SERVICE.service.d/placement.conf",
    checked="by the tool",
)
