"""A program of four threads with as much memory on each of two sockets, as a run sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from made_up_machine import machine

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.counters import CounterSample
from autofinity.model.memory import FAR_READS, MOVED_BYTES_PER_S, MemoryByNode
from autofinity.model.policy import Condition, Rule, RulePolicy, SecondLook, looked_at
from autofinity.model.ratios import GAINS, SPEED_GAIN
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, BindThreads, Interval, MovePages, Outcome, ThreadEvent

S = 1_000_000_000
MIB = 1 << 20
PAGE_BYTES = 2 * MIB
MACHINE = machine(packages=2, llcs=2, cores=4)
GAIN = next(ratio for ratio in GAINS if ratio.name == SPEED_GAIN)
FASTER = RulePolicy(
    looked_at(("instructions",)),
    {SPEED_GAIN: (1.0,)},
    (Rule((Condition(SPEED_GAIN, 1.0, float("inf")),), PACKED),),
    SPREAD,
    ratios=(GAIN,),
)
POLICY = RulePolicy(("instructions",), {}, (), SPREAD, second=SecondLook(PACKED, (SPREAD,), FASTER))
"""Packed where that is faster."""


@dataclass
class Program:
    """Four threads, two on each socket, and as much memory on each socket, in large pages."""

    near: float
    """Speed packed, with all pages near, by that in the spread affinity."""
    far: float
    """The same with all pages on the other socket."""
    pages: int = 1024
    seconds: float = 60.0
    misses_per_s: float = 1e7
    refuses: bool = False
    ends_s: float = float("inf")
    """When the last thread ends."""
    phases: bool = False
    """Whether each second half of a second is another phase."""
    phase_ends_s: tuple[float, ...] = ()
    """When it goes on to a phase with half as many instructions a second."""
    idles_s: float = float("inf")
    """When the last thread stops to compute."""
    frees_s: float = float("inf")
    """From when on it frees a remote page each look."""
    starts_s: float = 0.0
    """When it begins to compute."""
    speeds: Callable[[float], float | None] = lambda far: None
    """Speed packed by the share of remote pages, in place of `near` and `far`."""
    own_caches: Callable[[float], float | None] = lambda far: None
    """The same with the threads on all caches of one socket."""
    setup_s: float = 0.0
    """For how long all memory that it touches is new."""
    now_ns: int = 0
    seats: tuple[int, ...] = (0, 4, 8, 12)
    """CPUs that the threads run on."""
    packed_on: int | None = None
    caches: int = 4
    """Caches that have threads."""
    moved: list[tuple[float, int]] = field(default_factory=list)
    """Seconds and bytes of moves of pages."""
    on: list[int] = field(default_factory=list)
    """Node of each page."""

    def __post_init__(self) -> None:
        self.on = [0] * (self.pages // 2) + [1] * (self.pages // 2)

    def advance(self, duration_ns: int) -> Interval:
        start, self.now_ns = self.now_ns, self.now_ns + duration_ns
        speed = self.speed
        if start >= self.frees_s * S and 1 in self.on:
            self.on.remove(1)
        phase = sum(start >= end_s * S for end_s in self.phase_ends_s)
        if self.phases and start * 2 // S % 2:
            phase += 1
        rates = {
            "instructions": speed * 1e9 / 2**phase,
            "data_cache_loads": speed * 2e8,
            FAR_READS: speed * self.misses_per_s,
            "page_faults": 1e5 if start < self.setup_s * S else 0.0,
        }
        threads = range(4 if start < self.ends_s * S else 3)
        samples = tuple(
            CounterSample(
                100 + n,
                start,
                self.now_ns,
                {
                    **{name: round(rate * duration_ns / S) for name, rate in rates.items()},
                    "task_clock_ns": 0 if self.rests(n, start) else duration_ns,
                },
                duration_ns,
                duration_ns,
            )
            for n in threads
        )
        events = [ThreadEvent("begin", n, 100 + n, 0) for n in threads if start == 0]
        if start < self.ends_s * S <= self.now_ns:
            events.append(ThreadEvent("end", 3, 103, round(self.ends_s * S)))
        return Interval(
            start,
            self.now_ns,
            samples,
            tuple(events),
            progress=float("nan"),
            ended=self.now_ns >= self.seconds * S,
            cpus=tuple(map(OsIndex, self.seats)),
        )

    def rests(self, number: int, at_ns: int) -> bool:
        return at_ns < self.starts_s * S or (number == 3 and at_ns >= self.idles_s * S)

    @property
    def speed(self) -> float:
        """Reads take as much longer as pages are remote."""
        if self.packed_on is None:
            return 1.0
        far = 1 - self.on.count(self.packed_on) / max(1, len(self.on))
        known = self.speeds(far) if self.caches == 1 else self.own_caches(far)
        if known is None:
            known = self.speeds(far)
        if known is not None:
            return known
        return 1 / (far / self.far + (1 - far) / self.near)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        (action,) = actions
        if isinstance(action, BindThreads):
            self.seats = tuple(min(mask) for mask in action.placement.masks)
            self.caches = len({cpu // 4 for cpu in self.seats})
            nodes = {cpu // 8 for cpu in self.seats}
            self.packed_on = nodes.pop() if len(nodes) == 1 else None
            return Outcome(4, 0)
        assert isinstance(action, MovePages)
        if self.refuses:
            return Outcome(0, len(action.pages), ("EPERM",))
        for page, node in zip(action.pages, action.nodes, strict=True):
            self.on[page] = node
        moved_bytes = len(action.pages) * PAGE_BYTES
        self.moved.append((self.now_ns / S, moved_bytes))
        self.now_ns += round(moved_bytes / MOVED_BYTES_PER_S * S)
        return Outcome(len(action.pages), 0)

    def memory(self) -> MemoryByNode:
        return MemoryByNode((PAGE_BYTES * self.on.count(0), PAGE_BYTES * self.on.count(1)))

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        found = [page for page, on in enumerate(self.on) if on == node]
        for at in range(0, len(found), 2 * one_in):
            yield found[at : at + 2]
