"""Every interface between rooms, on one screen.

One seam carries everything: `process.advance(duration) → Interval` and `process.apply(actions) →
Outcome`. On Linux `advance` sleeps, in the simulator it steps, in a replay it reads a recording. A
mechanism is a pure function between the two calls, so one loop serves all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from autofinity.model.counters import CounterSample
from autofinity.model.detection import Detector
from autofinity.model.memory import MemoryByNode
from autofinity.model.observation import Observation
from autofinity.model.placement import FIRST_TOUCH, PagePlacement, Placement
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import OsIndex, Topology

if TYPE_CHECKING:
    from concurrent.futures import Future


@dataclass(frozen=True, slots=True)
class ThreadEvent:
    """Beginning or end of a thread. `thread` is its number by creation, `tid` the kernel's or
    -1.
    """

    kind: Literal["begin", "end"]
    thread: int
    tid: int
    at_ns: int


@dataclass(frozen=True, slots=True)
class Interval:
    """Events and counts during one `advance`."""

    start_ns: int
    end_ns: int
    samples: tuple[CounterSample, ...]
    thread_events: tuple[ThreadEvent, ...] = ()
    sharing: SharingMatrix | None = None
    """Sharing seen since the previous interval (accumulation and ageing are the mechanism's task);
    None without a detector of sharing."""
    progress: float = float("nan")
    """Share of the ROI's useful work done so far; NaN where unknown."""
    ended: bool = False
    energy_j: float = float("nan")
    """Joules of the whole machine; NaN where unknown."""
    dram_energy_j: float = float("nan")
    """Joules of these for lines that the memory read and wrote."""
    pages: NumaVectors | None = None
    """Vectors of the pages that were seen in this interval; None without a detector of pages."""
    runnable: int = 0
    """Number of threads that ran, or could run but waited for a CPU, at the end of the interval
    (one observation); 0 where they are not counted."""
    cpus: tuple[OsIndex, ...] = ()
    """PU where each thread last ran, by thread number (-1: no thread has the number now); empty
    where PUs are not recorded."""
    triggers: int = 0
    """Number of times that a detector was triggered (`TlbMatching`)."""
    detection_accesses: int = 0
    """Accesses to memory that detecting made, by hardware beside the cores (`TlbAccessCounters`).
    """
    reads_by_node: tuple[tuple[int, ...], ...] = ()
    """Lines that each thread read from memory, by thread number and logical node of the memory;
    empty where they are not counted (`Sensors.reads_by_node`). At most 32 nodes are counted."""
    resident_bytes: float = float("nan")
    """Memory that the program and its descendants hold at the end of the interval, as far as its
    growth is known (`ThreadRoll.resident_bytes`); NaN where unknown. For a simulated program: the
    memory that its region of interest has touched so far."""
    overhead_ns: Mapping[str, int] = field(default_factory=dict)
    """Time that detection and its consequences have taken from the program's cores since the
    previous interval, summed over them, by kind: "fault", "update", "shootdown", "interrupt", "tlb
    read", "tlb compare", "sample", "page copy", "thread migration", and those of `SpendTime`."""

    def threads(self, kind: Literal["begin", "end"]) -> frozenset[int]:
        """Numbers of the threads that began, or that ended."""
        return frozenset(event.thread for event in self.thread_events if event.kind == kind)


@dataclass(frozen=True, slots=True)
class BindThreads:
    """Let thread i run on `placement.masks[i]` from now on."""

    placement: Placement


@dataclass(frozen=True, slots=True)
class MovePages:
    """Move pages (`page_number`, larger ones by their first 4 KiB) to logical nodes."""

    pages: tuple[int, ...]
    nodes: tuple[int, ...]
    thread: int | None = None
    """Thread whose core copies the pages; None for a thread outside the program, whose time is not
    charged."""


@dataclass(frozen=True, slots=True)
class SpendTime:
    """The mechanism itself works for this time on the core of a thread, as a kernel thread
    would.
    """

    kind: str
    """Purpose, as `Interval.overhead_ns` reports it: "mapping"."""
    duration_ns: int
    thread: int = 0


type Action = BindThreads | MovePages | SpendTime


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of the actions: counts, one line for each reason, and the cost to the program."""

    done: int
    skipped: int
    reasons: tuple[str, ...] = ()
    cost_ns: int = 0
    pages_done: int = 0
    """Pages among what was `done`, where a program runs on Linux."""
    pages_skipped: int = 0
    """Pages among what was `skipped`: some are always gone or busy."""
    pages_reasons: tuple[str, ...] = ()
    """The reasons for these, which are then not among `reasons`."""

    @property
    def bound(self) -> int:
        """Number of threads that were bound."""
        return self.done - self.pages_done

    @property
    def refused(self) -> int:
        """Number of threads that were not bound."""
        return self.skipped - self.pages_skipped


@dataclass(frozen=True, slots=True)
class Sensors:
    """Sensors that a mechanism needs. The machine attaches them or gives the reason why not."""

    counters: tuple[str, ...] = ()
    detectors: tuple[Detector, ...] = ()
    """Detectors: at most one that senses sharing, and one that senses pages."""
    reads_by_node: bool = False
    """Whether reads are counted by the node of the memory; only on a simulated machine."""


class Process(Protocol):
    """One program run on a machine."""

    def advance(self, duration_ns: int) -> Interval:
        """Let the program run for `duration_ns` (or to its end) and return what was seen.

        Raises `SimulationError`; `LinuxError` when a program fails, is wrong or takes too long.
        """
        ...

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Carry the actions out, as far as possible. Raises `PlacementError`, `SimulationError`."""
        ...


class ShowsMemory(Process, Protocol):
    """A process that shows the location of its pages."""

    def memory(self) -> MemoryByNode | None:
        """The program's own memory now; None where it cannot be seen."""
        ...

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        """Numbers of the program's pages (`page_number`) on a logical node, those of each process
        in ascending order, some at a time, or none after a look at a part of the memory that has
        none there. `one_in`: one of so many parts.

        Pages that are touched, freed or moved during the call may be missing, or be listed all the
        same.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Request for a run: `program` is a trace directory for the simulator, an argv[0] on Linux."""

    program: str
    argv: tuple[str, ...] = ()
    threads: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    repeats: int = 1
    """Number of times that the region of interest runs, each with the caches and pages of the time
    before; only on a simulated machine."""
    beside: tuple[str, ...] = ()
    """Traces of more programs that begin with the first. `threads` is the total of all programs, an
    equal number each, in order; only on a simulated machine."""
    pages: PagePlacement = FIRST_TOUCH
    """Placement of its pages; other policies than first touch only on a simulated machine."""


class Machine(Protocol):
    """A place to run programs: `linux` or `sim`."""

    @property
    def topology(self) -> Topology:
        """Topology of the machine."""
        ...

    def events(self) -> Mapping[str, str]:
        """Neutral names of the machine's counters → one line of meaning."""
        ...

    def start(
        self,
        request: RunRequest,
        placement: Placement | None,
        sensors: Sensors,
        seed: int = 0,
    ) -> Process:
        """Start the program with its threads placed.

        Without a placement the operating system moves the threads between all CPUs that may be
        used. Raises `CapabilityError` for a sensor that cannot be attached,
        `SimulationError`/`LinuxError` when the program cannot be started.
        """
        ...


class Mechanism[State](Protocol):
    """A published (or our own) method of placement: a pure step and the sensors that it needs."""

    @property
    def name(self) -> str:
        """Name in tables and options."""
        ...

    @property
    def sensors(self) -> Sensors:
        """Sensors that the mechanism needs."""
        ...

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> State:
        """State before the first interval."""
        ...

    def step(self, state: State, interval: Interval) -> tuple[State, Sequence[Action]]:
        """Next state, and the actions to take now."""
        ...


type RunKey = tuple[str, str, int, str, str, int]
"""One run: (program, input, threads, placement, affinity, seed)."""


class Sink(Protocol):
    """Takes observations as they are made; written observations survive a crash."""

    def write(self, observations: Iterable[Observation]) -> None:
        """Store the observations, durably, before returning. Raises `StoreError`."""
        ...

    def done(self) -> frozenset[RunKey]:
        """Keys of the runs that are complete."""
        ...


@dataclass(frozen=True, slots=True)
class Done[Result]:
    """Result of a task, and the CPU seconds that it took wherever it ran."""

    result: Result
    cpu_s: float


class Task[Context, Result](Protocol):
    """A piece of work for a pool.

    Where the pool works on other machines, a task and its context are pickled, and the context is
    kept there for the next tasks.
    """

    @property
    def label(self) -> str:
        """Name of the task for people."""
        ...

    @property
    def traces(self) -> tuple[str, ...]:
        """Folders of the traces that the task reads."""
        ...

    @property
    def hands_out(self) -> bool:
        """Whether the task gives tasks of its own to the pool, and so stays on this machine."""
        ...

    def work(self, context: Context, folders: Mapping[str, str]) -> Result:
        """Do the work. `folders`: for each trace, its folder on the machine that does it."""
        ...


class Pool(Protocol):
    """Does tasks side by side: threads of this process, or workers on other machines."""

    def slots(self) -> int:
        """Number of tasks to keep submitted so that nobody idles; at least 1, and may change."""
        ...

    def submit[Context, Result](
        self, context: Context, task: Task[Context, Result]
    ) -> Future[Done[Result]]:
        """Begin a task. Its future raises the task's own error, or `ClusterError` where the pool
        cannot go on.
        """
        ...
