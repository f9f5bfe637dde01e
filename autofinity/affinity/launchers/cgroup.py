"""cgroup v2: a group with its cpuset for each task, by commands in the group above them.

Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, "Cpuset". The controller must be
given to the groups first (`+cpuset` in cgroup.subtree_control). `cpuset.mems` forbids other
nodes, and is left out where nodes are not known.
"""

from __future__ import annotations

from autofinity.affinity.launchers.form import Job, LauncherForm, ascending, for_all


def _groups(job: Job) -> str:
    lines = []
    for rank, task in enumerate(job.tasks):
        lines += [f"mkdir -p rank{rank}", f"echo {ascending(task.cpus)} > rank{rank}/cpuset.cpus"]
        if task.nodes:
            lines.append(f"echo {ascending(task.nodes)} > rank{rank}/cpuset.mems")
    return "\n".join(lines)


CGROUP = LauncherForm(
    "cgroup v2: a shell's commands in a group with +cpuset",
    for_all(_groups),
    file="shell script",
    checked="by the kernel",
)
