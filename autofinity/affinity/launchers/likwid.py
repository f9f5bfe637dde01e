"""likwid-pin, by numbers or by places within likwid's domains.

Within a cpuset likwid-pin reads a plain number as a place among the CPUs that it may use,
elsewhere as the kernel's number. Places within a domain mean the same in both cases, if the CPUs
that are allowed here are those of the program:

    N:2,0,4         the third, first and fifth CPU; first PUs of all cores before second ones
    C0:0,1@C2:0     the same within last-level caches, joined by @
    E:N:4:1:2       4 CPUs, 1 of every 2, core by core: siblings stand side by side

Source: likwid 5.2, `likwid-pin -h` and src/cpustring.c, src/affinity.c: caches are numbered
socket by socket, each with the cores of the machine's last cache level; a machine whose sockets
or caches differ in their cores, or that has other caches in a socket, is numbered otherwise, and
gets places in `N` only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from autofinity.affinity.launchers.form import Job, LauncherForm, Task, listed
from autofinity.model.topology import PU, OsIndex, Topology


def _by_number(job: Job) -> list[str]:
    topology = job.topology
    if topology and len(topology.allowed) < len(topology.pus):
        places = _places(_allowed(topology))
        return [_pin(listed(places[cpu] for cpu in task.cpus)) for task in job.tasks]
    return [_pin(listed(task.cpus)) for task in job.tasks]


def _by_domain(job: Job) -> list[str]:
    return [_pin(_expression(job.machine, task)) for task in job.tasks]


def _pin(cpus: str) -> str:
    return f"likwid-pin -c {cpus}"


def _expression(topology: Topology, task: Task) -> str:
    allowed = _allowed(topology)
    stride = _strided(allowed, task.cpus)
    if stride:
        return stride
    if _regular(topology):
        return _in_caches(topology, task.cpus)
    places = _places(allowed)
    return f"N:{listed(places[cpu] for cpu in task.cpus)}"


def _strided(allowed: Sequence[PU], cpus: Sequence[OsIndex]) -> str:
    """`E:N:threads`, or with a chunk and a stride, where that gives the CPUs in their order; else
    empty.
    """
    order = [pu.os_index for pu in allowed]
    if list(cpus) == order[: len(cpus)]:
        return f"E:N:{len(cpus)}"
    if cpus[0] != order[0] or len(cpus) < 2:
        return ""
    at = {cpu: place for place, cpu in enumerate(order)}
    steps = [at[cpu] for cpu in cpus]
    chunk = next((i for i in range(1, len(steps)) if steps[i] != i), len(steps))
    stride = steps[chunk] if chunk < len(steps) else 0
    if stride <= chunk or steps != [i // chunk * stride + i % chunk for i in range(len(steps))]:
        return ""
    return f"E:N:{len(cpus)}:{chunk}:{stride}"


def _in_caches(topology: Topology, cpus: Sequence[OsIndex]) -> str:
    """Runs of CPUs of one cache each, in thread order."""
    held: dict[int, list[PU]] = {}
    for pu in _allowed(topology):
        held.setdefault(pu.llc, []).append(pu)
    places = {llc: _places(pus) for llc, pus in held.items()}
    parts = []
    for llc, run in groupby(cpus, lambda cpu: topology.by_os_index[cpu].llc):
        parts.append(f"C{llc}:{listed(places[llc][cpu] for cpu in run)}")
    return "@".join(parts)


def _regular(topology: Topology) -> bool:
    """Whether caches are numbered in logical order, as likwid numbers them."""
    cores: dict[tuple[int, int], set[int]] = {}
    for pu in topology.pus:
        cores.setdefault((pu.package, pu.llc), set()).add(pu.core)
    sizes = {len(found) for found in cores.values()}
    a_socket = {
        sum(package == socket for package, _ in cores) for socket in range(topology.n_packages)
    }
    one_socket_each = len(cores) == topology.n_llcs
    return len(sizes) == len(a_socket) == 1 and one_socket_each and topology.llcs_are_caches


def _allowed(topology: Topology) -> list[PU]:
    return [pu for pu in topology.pus if pu.os_index in topology.allowed]


def _places(pus: Sequence[PU]) -> dict[OsIndex, int]:
    """Place of each CPU, first PUs of cores before second ones, each in logical order."""
    ordered = sorted(pus, key=lambda pu: pu.smt_rank)
    return {pu.os_index: place for place, pu in enumerate(ordered)}


LIKWID = LauncherForm(
    "likwid-pin; threads by creation", _by_number, pins_threads=True, checked="by the tool"
)
LIKWID_DOMAINS = LauncherForm(
    "likwid-pin by places in domains, the same within a cpuset",
    _by_domain,
    pins_threads=True,
    checked="by the tool",
)
