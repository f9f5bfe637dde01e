"""A drop-in for a service of systemd: CPUs of its processes, and nodes of their memory.

Several ranks are instances of a template, `SERVICE@0`, `SERVICE@1` …: a comment above each drop-in
names the rank and the file. CPUs and nodes of several files are merged unless an empty line takes
those of the earlier files back. Sources: systemd.exec(5), systemd.unit(5). Threads on one node
prefer that node, which does not end a program whose node is full; threads on several nodes have
pages on the node that first touches them.
"""

from __future__ import annotations

from autofinity.affinity.launchers.form import Job, LauncherForm, Task, ascending


def _drop_ins(job: Job) -> list[str]:
    texts = [_drop_in(task) for task in job.tasks]
    if len(texts) == 1:
        return texts
    return [
        f"# rank {rank}: SERVICE@{rank}.service.d/placement.conf\n{text}"
        for rank, text in enumerate(texts)
    ]


def _drop_in(task: Task) -> str:
    lines = ["[Service]", "CPUAffinity=", f"CPUAffinity={ascending(task.cpus, ' ')}", "NUMAMask="]
    if len(task.nodes) == 1:
        lines += ["NUMAPolicy=preferred", f"NUMAMask={task.nodes[0]}"]
    else:
        lines.append("NUMAPolicy=local")
    return "\n".join(lines)


SYSTEMD_UNIT = LauncherForm(
    "a service of systemd (systemctl edit)",
    _drop_ins,
    file="SERVICE.service.d/placement.conf",
    checked="by the tool",
)
