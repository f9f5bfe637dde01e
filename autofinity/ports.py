"""Every interface between rooms, on one screen.

One seam carries everything: `process.advance(duration) → Interval` and `process.apply(actions) →
Outcome`. On Linux `advance` sleeps, in the simulator it steps, in a replay it reads a recording; a
mechanism is a pure function between the two, so one loop serves all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from autofinity.model.counters import CounterSample
from autofinity.model.detection import Detector
from autofinity.model.memory import MemoryByNode
from autofinity.model.observation import Observation
from autofinity.model.placement import FIRST_TOUCH, PagePlacement, Placement
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import OsIndex, Topology


@dataclass(frozen=True, slots=True)
class ThreadEvent:
    """A thread appeared or went. `thread` is its number by creation, `tid` the kernel's or -1."""

    kind: Literal["begin", "end"]
    thread: int
    tid: int
    at_ns: int


@dataclass(frozen=True, slots=True)
class Interval:
    """What happened during one `advance`."""

    start_ns: int
    end_ns: int
    samples: tuple[CounterSample, ...]
    thread_events: tuple[ThreadEvent, ...] = ()
    sharing: SharingMatrix | None = None
    """Sharing seen since the previous interval (accumulating and ageing are the mechanism's); None
    without a detector of sharing."""
    progress: float = float("nan")
    """Share of the ROI's useful work done so far; NaN where it cannot be known."""
    ended: bool = False
    energy_j: float = float("nan")
    """Joules the whole machine took; NaN where it cannot be known."""
    pages: NumaVectors | None = None
    """Vectors of the pages that were seen in this interval; None without a detector of pages."""
    runnable: int = 0
    """Threads that ran, or could have and waited for a CPU, at the end of the interval: a glance;
    0 where nobody looks."""
    cpus: tuple[OsIndex, ...] = ()
    """PU that each thread was last on, by thread number (-1: no thread has the number just now);
    empty where nobody looks."""
    triggers: int = 0
    """How often a detector was set off (`TlbMatching`)."""
    resident_bytes: float = float("nan")
    """Memory that the program and its descendants hold at the end of the interval; NaN where it
    cannot be known. A simulated program has what its region of interest has touched so far."""
    overhead_ns: Mapping[str, int] = field(default_factory=dict)
    """What detecting, and what was done about it, has taken from the program's cores since the
    previous interval, summed over them, by kind: "fault", "update", "shootdown", "interrupt",
    "tlb read", "tlb compare", "sample", "page copy", "thread migration", and those of `SpendTime`.
    """

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
    """Whose core copies them; None for one outside the program, whose time is nobody's loss."""


@dataclass(frozen=True, slots=True)
class SpendTime:
    """The mechanism itself works for so long on the core of a thread, as a kernel thread would."""

    kind: str
    """What for, as `Interval.overhead_ns` reports it: "mapping"."""
    duration_ns: int
    thread: int = 0


type Action = BindThreads | MovePages | SpendTime


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the actions: counts, one line per reason, and what it cost the program."""

    done: int
    skipped: int
    reasons: tuple[str, ...] = ()
    cost_ns: int = 0


@dataclass(frozen=True, slots=True)
class Sensors:
    """What a mechanism needs to see. The machine attaches it or answers why not."""

    counters: tuple[str, ...] = ()
    detectors: tuple[Detector, ...] = ()
    """At most one that senses sharing, and one that senses pages."""


class Process(Protocol):
    """One program run on a machine."""

    def advance(self, duration_ns: int) -> Interval:
        """Let it run for `duration_ns` (or to its end) and say what was seen."""
        ...

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Carry the actions out, as far as possible."""
        ...


class ShowsMemory(Process, Protocol):
    """A process that says where its pages are."""

    def memory(self) -> MemoryByNode | None:
        """Its own memory now; None where that cannot be seen."""
        ...

    def pages_on(self, node: int) -> Iterator[Sequence[int]]:
        """Numbers of its pages (`page_number`) on a logical node, some at a time. What it touches,
        frees or moves meanwhile may be missing, or be named all the same.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run: `program` is a trace directory for the simulator, an argv[0] on Linux."""

    program: str
    argv: tuple[str, ...] = ()
    threads: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    repeats: int = 1
    """How often the region of interest runs, with the caches and pages that the last time left; a
    simulated machine only."""
    beside: tuple[str, ...] = ()
    """Traces of more programs that begin with it. `threads` are those of all, as many each, in
    order; a simulated machine only."""
    pages: PagePlacement = FIRST_TOUCH
    """Where its pages go; anything else than first touch on a simulated machine only."""


class Machine(Protocol):
    """A place to run programs: `linux` or `sim`."""

    @property
    def topology(self) -> Topology:
        """What it looks like."""
        ...

    def events(self) -> Mapping[str, str]:
        """Neutral counter names it offers → one line of meaning."""
        ...

    def counters_at_once(self) -> int:
        """How many events the PMU counts at once without multiplexing; 0 without a PMU."""
        ...

    def start(
        self,
        request: RunRequest,
        placement: Placement | None,
        sensors: Sensors,
        seed: int = 0,
    ) -> Process:
        """Start the program with its threads placed; None leaves them to the operating system,
        which moves them between all CPUs that may be used. Raises `CapabilityError` for a sensor
        that cannot be attached, `SimulationError`/`LinuxError` when the program cannot be started.
        """
        ...


class Mechanism[State](Protocol):
    """A published (or our own) way of placing: a pure step and the sensors it needs."""

    @property
    def name(self) -> str:
        """As tables and options name it."""
        ...

    @property
    def sensors(self) -> Sensors:
        """What it looks at."""
        ...

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> State:
        """State before the first interval."""
        ...

    def step(self, state: State, interval: Interval) -> tuple[State, Sequence[Action]]:
        """Next state, and what to do now."""
        ...


type RunKey = tuple[str, str, int, str, str, int]
"""One run: (program, input, threads, placement, affinity, seed)."""


class Sink(Protocol):
    """Takes observations as they are made; whatever was written survives a crash."""

    def write(self, observations: Iterable[Observation]) -> None:
        """Keep them, durably, before returning."""
        ...

    def done(self) -> frozenset[RunKey]:
        """What is complete already."""
        ...
