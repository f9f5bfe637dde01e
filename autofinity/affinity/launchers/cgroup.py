"""cgroup v2: a script that makes a group with its cpuset for each task.

The script gets the folder of the group above them, which may hold no processes of its own, as its
argument. Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, "Enabling and Disabling",
"No Internal Process Constraint" and "Cpuset". `cpuset.mems` forbids other nodes, and is left out
where nodes are not known. A hierarchy of version 1 has the same files, and nothing to enable.
"""

from __future__ import annotations

from autofinity.affinity.launchers.form import Job, LauncherForm, for_all
from autofinity.model.cpu_lists import format_cpu_list

_HEAD = """\
#!/bin/sh
# Makes a cgroup for each rank. Run it as root: sh FILE FOLDER, where FOLDER is a group without
# processes, for example /sys/fs/cgroup/placed (made if it is not there).
# Then start rank 0 in its group: sh -c 'echo $$ > FOLDER/rank0/cgroup.procs && exec PROGRAM'
set -eu
mkdir -p "${1:?expected the folder of a cgroup}"
cd "$1"
for parent in .. .; do
  if [ -e "$parent/cgroup.subtree_control" ]; then
    echo +cpuset > "$parent/cgroup.subtree_control"
  fi
done
"""


def _groups(job: Job) -> str:
    lines = []
    for rank, task in enumerate(job.tasks):
        lines += [
            f"# rank {rank}",
            f"mkdir -p rank{rank}",
            f"echo {format_cpu_list(task.cpus)} > rank{rank}/cpuset.cpus",
        ]
        if task.nodes:
            lines.append(f"echo {format_cpu_list(task.nodes)} > rank{rank}/cpuset.mems")
    return _HEAD + "\n".join(lines)


CGROUP = LauncherForm(
    "cgroup v2: makes a group for each rank below the folder that it is given",
    for_all(_groups),
    file="sh FILE FOLDER",
    checked="by the kernel",
)
