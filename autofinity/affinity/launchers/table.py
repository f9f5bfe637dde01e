"""All tools by name, and their texts.

The tools differ: OpenMP's variables and likwid-pin give thread i the i-th CPU; the others confine
all threads of a process to its set and leave the order inside it to the kernel. Some take no CPU
numbers at all, and choose CPUs themselves by what the text says of nodes and caches. A text for a
command line holds no space inside a word and no character that a POSIX shell would expand, so the
text may come out of `$(…)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autofinity.affinity.launchers import (
    balloons,
    cgroup,
    commands,
    kubernetes,
    likwid,
    mpich,
    open_mpi,
    openmp_variables,
    scx_layered,
    slurm,
    systemd_unit,
)
from autofinity.affinity.launchers.form import Job, LauncherForm, Task
from autofinity.affinity.ranks import Rank, memory_of
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology

_SET_UP = ("#", "[Service]", "set ", "cd ", "mkdir ", "for ", "  ", "done")
"""Beginnings of lines that do not name a CPU."""

WORDS = "words before the program"
"""Kind of text of a tool that reads no file."""

LAUNCHERS: Mapping[str, LauncherForm] = {
    "taskset": commands.TASKSET,
    "numactl": commands.NUMACTL,
    "omp": openmp_variables.OMP,
    "gomp": openmp_variables.GOMP,
    "kmp": openmp_variables.KMP,
    "likwid": likwid.LIKWID,
    "likwid-domains": likwid.LIKWID_DOMAINS,
    "hwloc": commands.HWLOC,
    "srun": slurm.SRUN,
    "openmpi4": open_mpi.OPENMPI4,
    "openmpi4-rankfile": open_mpi.OPENMPI4_RANKFILE,
    "openmpi5": open_mpi.OPENMPI5,
    "openmpi5-rankfile": open_mpi.OPENMPI5_RANKFILE,
    "mpich": mpich.MPICH,
    "systemd": commands.SYSTEMD_RUN,
    "systemd-unit": systemd_unit.SYSTEMD_UNIT,
    "cgroup": cgroup.CGROUP,
    "docker": commands.DOCKER,
    "kubelet": kubernetes.KUBELET,
    "pod": kubernetes.POD,
    "balloons": balloons.BALLOONS,
    "scx_layered": scx_layered.SCX_LAYERED,
}
"""Tools by the name that `autofinity hints --as` takes."""


def launcher_form(tool: str) -> LauncherForm:
    """The form called `tool`. Raises `UsageError` for a tool that is not in `LAUNCHERS`."""
    form = LAUNCHERS.get(tool)
    if form is None:
        raise UsageError(f"unknown launcher {tool!r}; expected one of {', '.join(LAUNCHERS)}")
    return form


def launcher_line(
    tool: str,
    cpus: Sequence[OsIndex],
    topology: Topology | None = None,
    shown: frozenset[OsIndex] | None = None,
) -> str:
    """Text with which `tool` puts one program on `cpus` (in thread order, not empty).

    Only the CPUs that `topology` allows may be used; None: all. `shown` are the CPUs that the
    cgroup shows; None: those that are allowed. Raises `UsageError` for a tool that is not in
    `LAUNCHERS`, or that cannot express the CPUs.
    """
    nodes = memory_of(topology, cpus) if topology else ()
    (text,) = launcher_form(tool).texts(Job((Task(tuple(cpus), nodes),), topology, shown))
    return text


def rank_texts(
    tool: str, ranks: Sequence[Rank], topology: Topology, shown: frozenset[OsIndex] | None = None
) -> list[str]:
    """Texts with which `tool` puts ranks on their places: one for each, or one for all.

    Raises `UsageError` as `launcher_line` does.
    """
    tasks = tuple(Task(rank.cores.cpus, rank.nodes) for rank in ranks)
    return launcher_form(tool).texts(Job(tasks, topology, shown))


def all_in_markdown(ranks: Sequence[Rank], topology: Topology) -> str:
    """A row for each tool, with an example: its text for these ranks, or the beginning of the text.

    Raises `UsageError` where a tool cannot express the places.
    """
    lines = ["| `--as` | for | text | checked | example |", "|---|---|---|---|---|"]
    for name, form in LAUNCHERS.items():
        kind = f"`{form.file}`" if form.file else WORDS
        example = _beginning(rank_texts(name, ranks, topology))
        lines.append(f"| `{name}` | {form.meaning} | {kind} | {form.checked} | {example} |")
    return "\n".join(lines) + "\n"


def _beginning(texts: Sequence[str]) -> str:
    """The first line that names CPUs, as a cell of a table; JSON is named only."""
    if texts[0].startswith(("{", "[\n")):
        return "JSON"
    lines = [line for line in texts[0].splitlines() if not line.startswith(_SET_UP)]
    lines = [line for line in lines if not line.endswith("=")]
    return f"`{lines[0]}`" + (" …" if len(lines) + len(texts) > 2 else "")
