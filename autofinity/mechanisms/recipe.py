"""The protocol of every mechanism: start of a run, period of looks, and a pure step.

    setting ─► recipe.start ─► machine ─► interval ─► recipe.step ─► actions ─► machine ─► …

A recipe is `ports.Mechanism` and two answers more, so the one loop turns it on a simulated machine,
on a recording or on a fake one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from autofinity.model.affinity import Hint
from autofinity.model.errors import UsageError
from autofinity.model.placement import FIRST_TOUCH, PagePlacement, Placement
from autofinity.model.policy import RulePolicy
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Mechanism
from autofinity.profiling.placements import bound, shared

NS_PER_S = 1_000_000_000
PAGE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Start:
    """How a run begins, before the mechanism has seen anything."""

    placement: Placement | None = None
    """None: the operating system's scheduler moves the threads."""
    pages: PagePlacement = FIRST_TOUCH


UNMANAGED = Start()
"""As everything begins that only looks and moves later."""


@dataclass(frozen=True, slots=True)
class WholeTrace:
    """Sharing and page accesses of a whole program, known before it runs."""

    sharing: SharingMatrix
    accesses: Mapping[int, tuple[int, ...]]
    """Page → accesses of each thread; a larger page has the number of its first 4 KiB."""
    page_size_bytes: int = PAGE_BYTES

    def placed(self, nodes: Mapping[int, int]) -> PagePlacement:
        """Pages on logical nodes, for a machine that looks places up by any 4 KiB of a page."""
        small = range(self.page_size_bytes // PAGE_BYTES)
        return PagePlacement(
            nodes={page + part: node for page, node in nodes.items() for part in small}
        )


@dataclass(frozen=True, slots=True)
class Setting:
    """The machine and the program that a recipe is made for."""

    topology: Topology
    threads: int
    """That compute."""
    clock_hz: float
    seed: int = 0
    """Seed for random choices of a mechanism (random mappings)."""
    paper_second_ns: int = NS_PER_S
    """Nanoseconds of the run that stand for a second of a paper's run: periods and rates are scaled
    by it. Costs of operations are not, but for mappings (`mapping_charge_ns`)."""
    fault_share_per_s: float = 0.1
    """Share of the touched pages that mechanisms with page faults sample, per second of a paper's
    run (kMAF'16, table 3; `kmaf16.faults_per_page` for a run that is shorter than the paper's)."""
    mapping_ns: Callable[[int], int] = lambda threads: 0
    """Time of a mapping, by threads: the mechanism's cost model in `registry`."""
    policy: RulePolicy | None = None
    sample: Callable[[Hint], Mapping[str, float]] | None = None
    """Counters of an earlier run of the program in the best match of a hint, per thread and second.
    """
    whole_trace: Callable[[], WholeTrace] | None = None
    room: int = 0
    """Cores that the threads share where these are fewer, since they take turns; 0: one each."""

    @property
    def placed(self) -> int:
        """For how many threads cores are chosen, where it does not matter who sits on which."""
        return self.room or self.threads

    def seated(self, cpus: Sequence[OsIndex]) -> Placement:
        """The threads on PUs of `placed` of them: each on its own, or all on all."""
        return shared(bound(cpus), self.threads)

    def ns(self, paper_ms: float) -> int:
        """Nanoseconds that stand for `paper_ms` milliseconds of a paper's run; at least 1 µs."""
        return max(1000, round(paper_ms * self.paper_second_ns / 1000))

    def mapping_charge_ns(self, mappings: int) -> int:
        """Time of the next periodic mapping, after `mappings` in the run.

        A mapping works on all threads, as many as in a paper's run, and comes as often as there: in
        a run that is shorter than what it stands for it takes as much less, so that mappings take
        the share of the run that they took of the paper's. In one that is not it takes all that it
        costs. Parts of a nanosecond add up.
        """
        each = self.mapping_ns(self.threads) * min(1.0, self.paper_second_ns / NS_PER_S)
        return round(each * (mappings + 1)) - round(each * mappings)

    def known_trace(self) -> WholeTrace:
        """The whole trace. Raises `UsageError` where there is none: on a real machine."""
        if self.whole_trace is None:
            raise UsageError(
                "this mechanism needs the accesses of a whole run beforehand; expected a trace"
            )
        return self.whole_trace()

    @property
    def pages(self) -> int:
        """How many the program touches; 0 where that is not known beforehand."""
        return len(self.whole_trace().accesses) if self.whole_trace is not None else 0

    @property
    def memory_bytes(self) -> int:
        """Size of the pages that the program touches. Raises as `known_trace`."""
        return self.known_trace().page_size_bytes * self.pages


class Recipe[State](Mechanism[State], Protocol):
    """A mechanism, and how a run under it begins and is looked at."""

    @property
    def start(self) -> Start:
        """How a run begins."""
        ...

    def period_ns(self, state: State) -> int:
        """How long the next look takes."""
        ...
