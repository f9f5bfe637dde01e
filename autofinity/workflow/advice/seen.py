"""Observation of a program that nobody moved: the base of all advice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.affinity.near import NOWHERE
from autofinity.model.memory import MemoryByNode
from autofinity.model.policy import RulePolicy
from autofinity.model.sharing import NumaVectors
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.live_state import LiveState
from autofinity.workflow.advice.given import Given


@dataclass(frozen=True, slots=True)
class Seen:
    """A program and its machine."""

    program: str
    topology: Topology
    available: frozenset[OsIndex]
    """CPUs that may be used."""
    policy: RulePolicy | None
    """With the facts of this machine in their place (`policy.on_machine`)."""
    asked: str
    """Which policy that is, and who chose it; or why there is none."""
    state: LiveState
    """State of the decider, which has bound nothing."""
    undecided: str
    """Why the policy was not asked; empty where it was."""
    threads: int
    """Number of threads that compute, or were promised."""
    room: int = 0
    """Cores that they are to share, where fewer of them run at a time; 0: one each."""
    ranks: int = 0
    """Processes like this one that are to be placed together; 0: this one only."""
    machine: str = ""
    """The machine as the user named it; empty: the one at hand."""
    learned: RulePolicy | None = None
    """The policy as it was learned, for any machine's facts; None: `policy` asks for no facts."""
    kind: str = ""
    """Name of the machine among those that are learned from; empty: it is none that is known."""
    computing: tuple[int, ...] = ()
    """Numbers of the threads that compute, or did so last; empty where it was not watched."""
    cpus: tuple[OsIndex, ...] = ()
    """Where each of them was last; of a file, what the file shows."""
    memory: MemoryByNode | None = None
    touched: NumaVectors | None = None
    """Sampled touches of pages by node; None where nothing samples them."""
    timeline: tuple[TimelineStep, ...] = ()
    """Every look at the program, in order of time; empty where it was not watched."""
    second_s: float = 1.0
    """Time of the machine that stands for a second of a run in the lengths of the looks: less on a
    simulated machine."""
    numa_balancing: str | None = None
    """kernel.numa_balancing, empty where the kernel has none; None on a simulated machine."""
    node_gbs: float = math.nan
    """Bandwidth of a node's memory, as the machine file says or was measured; NaN: not known."""
    exact_reads: bool = False
    """Counts of local and remote reads have every line from memory: on a simulated machine."""
    smt_slowdown: float | None = None
    """Slowdown of a thread while a sibling issues, too; None where no machine file says."""
    given: Given | None = None
    """Where the sample is from others' file: what was taken from it."""
    near: frozenset[int] = NOWHERE
    """Logical nodes that the placement prefers: those of `device`."""
    device: str = ""
    """Device that the threads drive, as the user called it; empty: none."""
    not_measured: tuple[str, ...] = ()
    """Quantities that cannot be seen here, and what would help, a line each."""

    @property
    def watched_s(self) -> float | None:
        """Length of all looks on the machine's clock; None of a file."""
        return watched_s(self.timeline) if self.given is None else None

    @property
    def placed(self) -> int:
        """Number of threads that cores are chosen for."""
        return self.room or self.threads

    @property
    def nodes(self) -> tuple[int, ...]:
        """Logical node of each thread that computes."""
        pus = self.topology.by_os_index
        return tuple(pus[cpu].node for cpu in self.cpus if cpu in pus)

    def rate(self, counter: str) -> float | None:
        """Value in the sample, per thread and second; None where the counter was not measured, or
        its time is unknown.
        """
        return self.amount(counter) if self.given is None or self.given.timed else None

    def amount(self, counter: str) -> float | None:
        """As `rate`, or of samples that have no time: what ratios may be made of."""
        sample = self.state.samples.start
        return sample.values.get(counter) if sample is not None else None

    def kernel_nodes(self, nodes: Sequence[int]) -> list[int]:
        """The kernel's numbers of logical nodes."""
        return [int(self.topology.node_os_indices[node]) for node in nodes]


def watched_s(timeline: Sequence[TimelineStep]) -> float:
    """Length of these looks."""
    return sum(step.end_ns - step.start_ns for step in timeline) / 1e9


def simulated_time(seconds: float) -> str:
    """A length on the clock of a simulated machine, with its unit."""
    return f"{seconds * 1e3:.3g} ms of simulated time"


@dataclass(frozen=True, slots=True)
class Section:
    """One question, answered."""

    question: str
    advice: str
    """Recommended action."""
    evidence: tuple[str, ...]
    """Evidence for the advice: numbers with units, a line each."""
    facts: dict[str, object]
    """The same for programs; names say the units."""


def threads_text(count: int) -> str:
    """A number of threads, in words."""
    return f"{count} thread{'s' * (count != 1)}"
