"""Settings and state of a watched run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from autofinity.affinity.near import NOWHERE
from autofinity.model.affinity import Hint
from autofinity.model.memory import MemoryByNode
from autofinity.model.policy import Decision
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, Interval
from autofinity.runtime.continuous import Watch
from autofinity.runtime.guard import Guard
from autofinity.runtime.looking import SAMPLING_LOSS, LookCosts
from autofinity.runtime.looks import look_of
from autofinity.runtime.masks import Binding
from autofinity.runtime.orders import Orders
from autofinity.runtime.page_rate import TODAYS, PageRate
from autofinity.runtime.pages_along import PagesAlong
from autofinity.runtime.placed import Placed
from autofinity.runtime.samples import Samples
from autofinity.runtime.sampling import Sampling
from autofinity.runtime.seats import SharedSoFar
from autofinity.runtime.stay import Stay
from autofinity.runtime.steady import Onset
from autofinity.runtime.trying import Trying
from autofinity.runtime.workers import Workers

_NS_PER_MS = 1_000_000

type Phase = Literal["watching", "settling", "sampling", "placed", "left alone"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a watched run. Times in nanoseconds."""

    threads: int = 0
    """Number of threads that the program promises to compute with; 0: watch them appear."""
    seated: bool = False
    """Whether threads have seats from their creation on."""
    bind: Binding = "llc"
    sample_ns: int = 1_000 * _NS_PER_MS
    """Usual length of a sample; it lasts at least a fifth of this and at most twice this."""
    settle_ns: int = 25 * _NS_PER_MS
    """Time after a move of threads in which their caches are cold, and nothing is counted."""
    look_ns: int = 100 * _NS_PER_MS
    """Time between two looks while threads appear."""
    follow_ns: int = 1_000 * _NS_PER_MS
    """Time between two looks once threads are placed."""
    patience_ns: int = 2_000 * _NS_PER_MS
    """Longest wait for promised threads before the present threads are placed."""
    steady_looks: int = 3
    """Looks without a new worker after which watched threads count as complete."""
    parts: int = 20
    """Number of looks in `sample_ns`."""
    visits: int = 4
    """Largest number of moves for sampling, both looks together, until both have seen the same
    phase."""
    restless_looks: int = 8
    """Looks with changing workers in a row after which a placed program is let go."""
    every_ns: int = 0
    """Continuous mode: time between looks at a placed program for changes; 0: never."""
    sampling_loss: float = SAMPLING_LOSS
    """Share of its time that a program is assumed to lose while it is sampled."""
    restarts: int = 5
    """Largest number of times that sampling restarts because threads came or went."""
    blind: bool = False
    """Whether nothing that the policy's rules ask for can be measured here."""
    fallback: Hint | None = None
    """Hint when nothing can be measured, or there is no policy; None: threads are not placed."""
    near: frozenset[int] = NOWHERE
    """Logical nodes of the device that hints prefer; empty: no device."""
    divided: bool = False
    """Whether the CPUs that may be used are a rank's share: its threads are kept to these, also
    where there is one only, or nothing is decided."""
    page_rate: PageRate = TODAYS
    """Rate at which pages are assumed to move."""
    keep_pages: bool = False
    """Whether no page may move: looks are taken with pages where they are."""
    by_sharing: bool = False
    """Whether sharing that is seen from page faults decides which threads sit side by side: the
    evidence without counters."""


@dataclass(frozen=True, slots=True)
class LiveState:
    """State of a run."""

    phase: Phase = "watching"
    notes: tuple[str, ...] = ()

    # The program's threads.
    workers: Workers = field(default_factory=Workers)
    most_computing: int = 0
    """Largest number of workers at once."""
    waited_ns: int = 0
    """Time for which the program has been watched."""
    steady: int = 0
    """Looks in a row that found the same workers; 0 again where watching begins again."""
    unsettled: int = 0
    """Looks in a row that found other workers than the look before."""
    restless: bool = False
    """Whether the program was let go once because of changing workers: then only steady workers are
    placed."""
    swings: bool = False
    """Whether more threads once ran at a time than a placement had room for: it shrinks no more."""
    sharing: SharedSoFar = field(default_factory=SharedSoFar)
    progress: float = float("nan")

    # Its memory.
    homes: Mapping[int, OsIndex] = field(default_factory=dict)
    """PU where each thread last ran before it was bound, by number: where it first touched its
    pages."""
    memory: MemoryByNode | None = None
    """The program's memory before its threads were bound, when placed threads were placed again, or
    after all of its pages came along to a second look; None where it was not seen."""
    onset: Onset = field(default_factory=Onset)
    """State of the program's initialisation."""
    early: bool = False
    """Whether the program was sampled while its memory still grew."""

    # Where its threads are.
    placed: Placed = field(default_factory=Placed)
    order: Orders = field(default_factory=Orders)
    """Order of the threads in the placement."""
    stay: Stay = field(default_factory=Stay)
    costs: LookCosts = field(default_factory=LookCosts)

    # The looks for an answer.
    sampling: Sampling = field(default_factory=Sampling)
    restarts: int = 0
    """Number of times that sampling began again because threads came or went."""
    along: PagesAlong = field(default_factory=PagesAlong)
    """Pages that come along to the second look."""
    trying: Trying | None = None
    """The trial that is under way."""

    # The answer.
    samples: Samples = field(default_factory=Samples)
    missing: tuple[str, ...] = ()
    """Counters that the policy asks for and the sample lacks."""
    decision: Decision | None = None
    unasked: bool = False
    """Whether the placement is no answer of the policy: a fallback, or by sharing alone."""
    guard: Guard = field(default_factory=Guard)
    refuted: frozenset[Hint] = frozenset()
    """Hints that were tried in this run and were slower: they are not tried again."""
    watch: Watch = field(default_factory=Watch)
    """Continuous mode: record since the present placement."""
    standing: Hint | None = None
    """Continuous mode: the hint that held before the program was sampled again."""

    @property
    def cores(self) -> int:
        """Number of cores that rates are divided by: the same in all looks that are compared."""
        return max(1, self.sampling.room or self.placed.room)

    @property
    def same_threads(self) -> bool:
        """Whether the threads that compute are those that were placed, or left alone."""
        return self.workers.computing == self.placed.threads

    def looked(self, interval: Interval) -> Self:
        """The state after one more look, before anything is decided."""
        workers = self.workers.after(interval)
        changed = workers.computing != self.workers.computing
        return replace(
            self,
            workers=workers,
            most_computing=max(self.most_computing, len(workers.computing)),
            steady=0 if changed else self.steady + 1,
            placed=self.placed.after(interval),
            waited_ns=self.waited_ns + interval.end_ns - interval.start_ns,
            sharing=self.sharing.after(interval),
            homes=self._homes_after(interval),
            onset=self.onset.after(interval, look_of(interval, workers, self.cores)),
        )

    def _homes_after(self, interval: Interval) -> Mapping[int, OsIndex]:
        ended = interval.threads("end") | interval.threads("begin")  # numbers are used again
        known = {number: cpu for number, cpu in self.homes.items() if number not in ended}
        seen = {number: cpu for number, cpu in enumerate(interval.cpus) if cpu >= 0}
        # Once threads are bound, the CPUs where they run are our choice.
        return seen | known if self.placed.cpus else known | seen

    def without_trial(self) -> Self:
        """The state without a trial of a hint, an order or pages, and in the order of threads
        before it.
        """
        order, trying = self.order, self.trying
        if trying is not None and trying.order is not None:
            order = order.to(trying.before)
        return replace(self, trying=None, order=order, along=self.along.over())

    def noting(self, line: str) -> Self:
        """The state with one more note, unless the note is there already."""
        return self if line in self.notes else replace(self, notes=(*self.notes, line))


type Turn = tuple[LiveState, Sequence[Action]]
"""The state after a look, and the actions that follow from it."""
