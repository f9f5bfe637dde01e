"""mpirun of Open MPI 4 and 5: a rankfile, or a pattern on the command line.

The versions differ. Open MPI 4 reads the numbers of a rankfile as the kernel's with
`rmaps_rank_file_physical`, and as PUs with `--use-hwthread-cpus` (else as cores: the whole core
of a PU is bound). Open MPI 5 has only hwloc's logical numbers of the PUs that the cgroup shows,
whatever the affinity mask, and takes the file by `--map-by rankfile:file=`. A socket of Open MPI
4 is a package in 5. Sources: mpirun(1) of 4.1, "Rankfiles"; `mpirun --help map-by` of 5.0 and
PRRTE's rmaps_rank_file.c.

A pattern gives each package, NUMA node or last-level cache the same number of ranks, of
neighbouring whole cores from its first core on. Other places have no pattern.
"""

from __future__ import annotations

from collections.abc import Callable

from autofinity.affinity.launchers.form import Job, LauncherForm, ascending, cores_of, for_all
from autofinity.model.errors import UsageError
from autofinity.model.topology import PU, Topology

_RANK = "rank {rank}=localhost slot={slots}"  # another host's name stands there in its place


def _rankfile_4(job: Job) -> str:
    words = "--rankfile FILE --use-hwthread-cpus --mca rmaps_rank_file_physical 1"
    lines = [f"# Open MPI 4: mpirun -n {len(job.tasks)} {words}"]
    for rank, task in enumerate(job.tasks):
        lines.append(_RANK.format(rank=rank, slots=ascending(task.cpus)))
    return "\n".join(lines)


def _rankfile_5(job: Job) -> str:
    shown = job.machine.allowed if job.shown is None else job.shown
    order = [pu.os_index for pu in job.machine.pus if pu.os_index in shown]
    logical = {cpu: at for at, cpu in enumerate(order)}
    words = "--map-by rankfile:file=FILE:hwtcpus"
    lines = [f"# Open MPI 5: mpirun -n {len(job.tasks)} {words}"]
    for rank, task in enumerate(job.tasks):
        slots = ascending(logical[cpu] for cpu in task.cpus)
        lines.append(_RANK.format(rank=rank, slots=slots))
    return "\n".join(lines)


def _pattern(socket: str) -> Callable[[Job], str]:
    """The command line of a version that calls packages `socket`."""

    def line(job: Job) -> str:
        topology = job.machine
        if len(topology.allowed) < len(topology.pus):
            raise UsageError(f"the machine is not whole: use a rankfile ({_FILES})")
        ranks = [cores_of(topology, task.cpus) for task in job.tasks]
        for name, part_of in _parts(topology, socket).items():
            each = _ranks_each(topology, part_of, ranks)
            if each:
                return (
                    f"mpirun -n {len(ranks)} --map-by ppr:{each}:{name}:PE={len(ranks[0])} "
                    "--bind-to core"
                )
        raise UsageError(f"Open MPI has no pattern for these places: use a rankfile ({_FILES})")

    return line


def _parts(topology: Topology, socket: str) -> dict[str, Callable[[PU], int]]:
    """Parts of the machine that patterns may name, the largest first."""
    parts: dict[str, Callable[[PU], int]] = {socket: lambda pu: pu.package}
    if not topology.one_node_assumed and not topology.unknown_nodes:
        parts["numa"] = lambda pu: pu.node
    level = max((cache.level for cache in topology.caches), default=0)
    if level in (2, 3) and topology.llcs_are_caches:
        parts[f"l{level}cache"] = lambda pu: pu.llc
    return parts


def _ranks_each(topology: Topology, part_of: Callable[[PU], int], ranks: list[list[int]]) -> int:
    """Ranks of each part, where the pattern gives the ranks these cores; else 0."""
    held: dict[int, list[int]] = {}
    for pu in topology.pus:
        cores = held.setdefault(part_of(pu), [])
        if pu.core not in cores:
            cores.append(pu.core)
    each, width = -(-len(ranks) // len(held)), len(ranks[0])
    pattern = [
        cores[at * width : (at + 1) * width] for cores in held.values() for at in range(each)
    ]
    return each if pattern[: len(ranks)] == ranks else 0


_FILES = "openmpi4-rankfile, openmpi5-rankfile"

OPENMPI4 = LauncherForm(
    "mpirun of Open MPI 4, by a pattern", for_all(_pattern("socket")), checked="by the tool"
)
OPENMPI4_RANKFILE = LauncherForm(
    "mpirun of Open MPI 4", for_all(_rankfile_4), file="rankfile", checked="by the tool"
)
OPENMPI5 = LauncherForm(
    "mpirun of Open MPI 5, by a pattern", for_all(_pattern("package")), checked="by the tool"
)
OPENMPI5_RANKFILE = LauncherForm(
    "mpirun of Open MPI 5", for_all(_rankfile_5), file="rankfile", checked="by the tool"
)
