"""The common form of all tools: how a text is made, and where the text goes.

CPUs are the kernel's numbers throughout; a module whose tool counts otherwise says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology


@dataclass(frozen=True, slots=True)
class Task:
    """One process: a CPU for each thread, in thread order, and the nodes of its memory."""

    cpus: tuple[OsIndex, ...]
    nodes: tuple[OsIndex, ...] = ()
    """The kernel's numbers, ascending; empty where nodes are not known."""


@dataclass(frozen=True)
class Job:
    """Processes of one program on one machine, in the order of ranks; at least one."""

    tasks: tuple[Task, ...]
    topology: Topology | None = None
    shown: frozenset[OsIndex] | None = None
    """CPUs that the cgroup of the tool shows; None: those that are allowed."""

    @cached_property
    def machine(self) -> Topology:
        """The topology. Raises `UsageError` where it is not known."""
        if self.topology is None:
            raise UsageError("this form depends on the machine; expected its topology")
        return self.topology

    @property
    def cpus(self) -> tuple[OsIndex, ...]:
        """CPUs of all tasks."""
        return tuple(cpu for task in self.tasks for cpu in task.cpus)


type Texts = Callable[[Job], list[str]]
"""Texts for a job: one for each task, or one for all. Raises `UsageError` where the tool cannot
express the places."""


@dataclass(frozen=True, slots=True)
class LauncherForm:
    """Way in which one tool takes CPUs."""

    meaning: str
    texts: Texts
    pins_threads: bool = False
    """Whether thread i gets the i-th CPU; False: all threads of a task may use its whole set."""
    file: str = ""
    """Name of the file that the text is for; empty: the text is one line, the words before the
    program on a shell's command line."""
    checked: str = "by its documented grammar"
    """How the tests know that the tool takes the text."""


def for_each(text: Callable[[Task], str]) -> Texts:
    """Texts of a tool that starts one process: one for each task."""
    return lambda job: [text(task) for task in job.tasks]


def for_all(text: Callable[[Job], str]) -> Texts:
    """Texts of a tool that starts all processes: a single one."""
    return lambda job: [text(job)]


def listed(numbers: Iterable[int], separator: str = ",") -> str:
    """The numbers in their order."""
    return separator.join(map(str, numbers))


def ascending(numbers: Iterable[int], separator: str = ",") -> str:
    """Each number once, ascending."""
    return listed(sorted(set(numbers)), separator)


def mask(cpus: Iterable[int]) -> str:
    """Hexadecimal mask with a bit for each number."""
    return f"{sum(1 << cpu for cpu in set(cpus)):#x}"


def cores_of(topology: Topology, cpus: Sequence[OsIndex]) -> list[int]:
    """Logical numbers of the cores of `cpus`, each once, ascending."""
    return sorted({topology.by_os_index[cpu].core for cpu in cpus})


def whole_cores(topology: Topology, cpus: Sequence[OsIndex]) -> list[OsIndex]:
    """All allowed CPUs of the cores of `cpus`, ascending."""
    cores = set(cores_of(topology, cpus))
    allowed = topology.allowed
    return sorted(pu.os_index for pu in topology.pus if pu.core in cores and pu.os_index in allowed)
