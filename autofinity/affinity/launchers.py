"""A core set in the syntax of the tools that people start programs with.

The tools differ: OpenMP's variables and likwid-pin give thread i the i-th CPU; the others confine
all threads to the set and leave the order inside it to the kernel. CPUs are always the kernel's
numbers, and a tool that would count differently gets an option for them. Only likwid-pin has no
such option: within a cpuset it counts the CPUs that it may use. No line holds a space inside a word
or a character that a POSIX shell would expand, so the line may come out of `$(…)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology


@dataclass(frozen=True, slots=True)
class LauncherForm:
    """Way in which one tool takes CPUs."""

    meaning: str
    pins_threads: bool
    """Whether thread i gets the i-th CPU; False: all threads may use the whole set."""
    line: Callable[[Sequence[OsIndex]], str]
    """CPUs in thread order → the words before the program on a shell's command line."""
    counts_allowed: bool = False
    """Whether the tool, where not all CPUs are allowed, reads a number as a place among the allowed
    CPUs: first the first PUs of all cores, then the second ones, …, each in logical order."""


def _listed(cpus: Sequence[OsIndex]) -> str:
    return ",".join(str(cpu) for cpu in cpus)


def _sorted(cpus: Sequence[OsIndex]) -> str:
    return _listed(sorted(cpus))


def _mask(cpus: Sequence[OsIndex]) -> str:
    return f"{sum(1 << cpu for cpu in set(cpus)):#x}"


def _hwloc_mask(cpus: Sequence[OsIndex]) -> str:
    """Mask of 32 bits a word, the highest first, as hwloc writes sets of OS indices."""
    bits = sum(1 << cpu for cpu in set(cpus))
    words = []
    while bits:
        words.append(f"{bits & 0xFFFFFFFF:#010x}")
        bits >>= 32
    return ",".join(reversed(words))


def _variables(**values: str) -> str:
    return " ".join(["env", *(f"{name}={text}" for name, text in values.items())])


def _omp(cpus: Sequence[OsIndex]) -> str:
    # With as many places as threads, `close` puts thread i on place i (OpenMP 5.2, section 10.1.3).
    places = ",".join(f"{{{cpu}}}" for cpu in cpus)
    return _variables(OMP_NUM_THREADS=str(len(cpus)), OMP_PLACES=places, OMP_PROC_BIND="close")


LAUNCHERS: Mapping[str, LauncherForm] = {
    "taskset": LauncherForm("util-linux", False, lambda cpus: f"taskset -c {_sorted(cpus)}"),
    "numactl": LauncherForm(
        "numactl; pages on the node that first touches them",
        False,
        lambda cpus: f"numactl --physcpubind={_sorted(cpus)} --localalloc",
    ),
    "omp": LauncherForm("any OpenMP runtime", True, _omp),
    "gomp": LauncherForm(
        "GCC's OpenMP runtime",
        True,
        lambda cpus: _variables(OMP_NUM_THREADS=str(len(cpus)), GOMP_CPU_AFFINITY=_listed(cpus)),
    ),
    "kmp": LauncherForm(
        "Intel's and LLVM's OpenMP runtime",
        True,
        lambda cpus: _variables(
            OMP_NUM_THREADS=str(len(cpus)),
            KMP_AFFINITY=f"granularity=fine,proclist=[{_listed(cpus)}],explicit",
        ),
    ),
    "likwid": LauncherForm(
        "likwid-pin; threads by creation",
        True,
        lambda cpus: f"likwid-pin -c {_listed(cpus)}",
        counts_allowed=True,
    ),
    "hwloc": LauncherForm("hwloc-bind", False, lambda cpus: f"hwloc-bind {_hwloc_mask(cpus)} --"),
    "srun": LauncherForm(
        "Slurm, one task",
        False,
        lambda cpus: (
            f"srun --ntasks=1 --cpus-per-task={len(cpus)} --cpu-bind=mask_cpu:{_mask(cpus)}"
        ),
    ),
    "systemd": LauncherForm(
        "a scope of its own, with the cgroup's cpuset",
        False,
        lambda cpus: f"systemd-run --scope -p AllowedCPUs={_sorted(cpus)}",
    ),
    "docker": LauncherForm(
        "docker and podman; before the image", False, lambda cpus: f"--cpuset-cpus={_sorted(cpus)}"
    ),
}
"""Tools by the name that `autofinity hints --as` takes."""


def launcher_line(tool: str, cpus: Sequence[OsIndex], topology: Topology | None = None) -> str:
    """Words before the program with which `tool` puts it on `cpus` (in thread order, not empty).

    Only the CPUs that `topology` allows may be used; None: all.

    Raises `UsageError` for a tool that is not in `LAUNCHERS`.
    """
    form = LAUNCHERS.get(tool)
    if form is None:
        raise UsageError(f"unknown launcher {tool!r}; expected one of {', '.join(LAUNCHERS)}")
    if form.counts_allowed and topology and len(topology.allowed) < len(topology.pus):
        return form.line(_places(cpus, topology))
    return form.line(cpus)


def _places(cpus: Sequence[OsIndex], topology: Topology) -> list[OsIndex]:
    """Place of each CPU among the allowed ones, counted as likwid does (`L:N:` in its syntax)."""
    allowed = [pu for pu in topology.pus if pu.os_index in topology.allowed]
    allowed.sort(key=lambda pu: pu.smt_rank)
    place = {pu.os_index: OsIndex(at) for at, pu in enumerate(allowed)}
    return [place[cpu] for cpu in cpus]
