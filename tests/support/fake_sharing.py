"""A process whose threads share in a pattern of the test's own, on any topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autofinity.model.counters import CounterSample
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import OsIndex
from autofinity.ports import (
    Action,
    BindThreads,
    Interval,
    MovePages,
    Outcome,
    SpendTime,
    ThreadEvent,
)

COUNTED = 1000


def pairs(threads: int, amount: float = 10) -> SharingMatrix:
    """Thread i shares with thread i + T/2."""
    half = threads // 2
    return SharingMatrix(
        tuple(
            tuple(amount if abs(i - j) == half else 0.0 for j in range(threads))
            for i in range(threads)
        )
    )


@dataclass
class FakeSharing:
    """A process of so many intervals, all with the same sharing, in which every request
    succeeds.
    """

    threads: int
    counters: Sequence[str] = ()
    sharing: SharingMatrix | None = None
    pages: Mapping[int, tuple[int, ...]] | None = None
    """Faults of each page from each node, in each interval."""
    intervals: int = 40
    triggers: int = 1000
    gains: bool = False
    """Whether it gets faster all the time, as if every placement helped."""
    cpus: tuple[OsIndex, ...] = ()
    """CPUs of the threads; empty where no test reads them."""
    now_ns: int = 0
    bindings: list[tuple[frozenset[int], ...]] = field(default_factory=list)
    nodes: dict[int, int] = field(default_factory=dict)
    """Nodes to which pages were moved."""
    spent_ns: int = 0
    seen: int = 0

    def advance(self, duration_ns: int) -> Interval:
        start, self.now_ns = self.now_ns, self.now_ns + duration_ns
        self.seen += 1
        pages = None
        if self.pages is not None:
            so_far = {page: tuple(self.seen * n for n in of) for page, of in self.pages.items()}
            nodes = {page: self.nodes.get(page, 0) for page in so_far}
            pages = NumaVectors(so_far, nodes=nodes)
        counts = dict.fromkeys(self.counters, COUNTED * duration_ns // 1000)
        counts |= {"page_faults": 0}  # its set-up is over
        return Interval(
            start,
            self.now_ns,
            tuple(
                CounterSample(t, start, self.now_ns, counts, duration_ns, duration_ns)
                for t in range(self.threads)
            ),
            tuple(ThreadEvent("begin", t, t, 0) for t in range(self.threads if start == 0 else 0)),
            sharing=self.sharing,
            pages=pages,
            cpus=self.cpus,
            triggers=self.triggers,
            progress=(self.now_ns / 1e9) ** (2 if self.gains else 1),
            ended=self.seen >= self.intervals,
            energy_j=1.0,
            overhead_ns={"fault": 10},
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        done = 0
        for action in actions:
            if isinstance(action, BindThreads):
                self.bindings.append(action.placement.masks)
                if self.cpus:
                    self.cpus = tuple(min(mask) for mask in action.placement.masks)
                done += len(action.placement.masks)
            elif isinstance(action, MovePages):
                self.nodes.update(zip(action.pages, action.nodes, strict=True))
                done += len(action.pages)
            elif isinstance(action, SpendTime):
                self.spent_ns += action.duration_ns
                done += 1
        return Outcome(done, 0)
