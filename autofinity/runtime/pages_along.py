"""Pages that take long to move come along to a second look in two steps. Pure.

    second look at remote pages ─► would all pages turn the answer round? ─► no: it stands
                 │ perhaps
    a part comes along ─► looks ─► clearly ─► all come along ─► second look at near pages
                             └─► no, or not clear: the answer stands

Few pages come along at once (`pages_follow`). With many remote pages a second look shows remote
reads, not the affinity: `join` on `xeon-8480` is slower packed than spread if half of its pages are
remote, and faster if they are near.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from autofinity.model.counters import Behaviour
from autofinity.model.memory import (
    FAR_READS,
    REMOTE_READ_NS,
    REMOTE_TIMES,
    MemoryByNode,
)
from autofinity.model.topology import Topology
from autofinity.runtime.answer import Answer
from autofinity.runtime.before_after import LOOKS, OF_INSTRUCTIONS, BeforeAfter
from autofinity.runtime.left_behind import left_behind
from autofinity.runtime.looks import Look
from autofinity.runtime.page_rate import TODAYS, PageRate
from autofinity.runtime.phases import Phase, warmed

_OF_TIME = ("cycles", "task_clock_ns", "run_delay_ns")
"""Counts that grow with time, not with work."""
_PATIENCE_NS = 5_000_000_000
"""Time with the part after which no gain is clear: looks were at other phases."""


class Gain(NamedTuple):
    """A program's relative gain in speed, if all its pages were near, and its boundaries."""

    least: float
    likely: float
    most: float


class FarPages(NamedTuple):
    """Pages of a program whose threads are on one node, or on nodes near each other."""

    far_bytes: int
    """Bytes that threads there have left behind (`left_behind`)."""
    total_bytes: int

    @staticmethod
    def of(topology: Topology, memory: MemoryByNode, nodes: Sequence[int]) -> FarPages:
        """The pages of a program with this memory and threads on these logical nodes. None are far
        where the nodes are not near each other.
        """
        found = left_behind(topology, memory, nodes, nodes)
        return FarPages(found.bytes_to_move, found.total_bytes)

    @property
    def near_bytes(self) -> int:
        """Bytes that are not far."""
        return self.total_bytes - self.far_bytes

    @property
    def latency_gain(self) -> float:
        """Largest relative gain in speed by near pages that the ratio of latencies allows."""
        return (REMOTE_TIMES - 1) * self.far_bytes / self.total_bytes

    def most_gain(self, seen: Behaviour) -> float:
        """Largest relative gain in speed of a program that is seen so, if all pages were near.

        It is limited by the ratio of latencies, and by the time that remote misses take if none
        overlaps; 0 where misses are not counted. There is at least one page.
        """
        waited = seen[FAR_READS] * REMOTE_READ_NS / 1e9 * self.far_bytes / self.total_bytes
        if not math.isfinite(waited):
            return 0.0
        return min(self.latency_gain, waited / (1 - waited) if waited < 1 else math.inf)


NO_PAGES = FarPages(0, 0)


@dataclass(frozen=True, slots=True)
class PagesAlong:
    """Remote pages of a second look. Start with `PagesAlong()`."""

    asked: Literal["none", "part", "all"] = "none"
    """Pages that are to come along now."""
    tried: bool = False
    """Whether pages were asked for in this run: there is one such trial."""
    answer: Answer | None = None
    """The answer that stands if the looks with the part, or with all pages, show no other."""
    far: FarPages = NO_PAGES
    """Pages before the part moved; later, when they were last seen."""
    came_bytes: int = 0
    """Bytes of the part, once it has come along."""
    rates: BeforeAfter = field(default_factory=BeforeAfter)
    passed_ns: int = 0
    """Time with the part."""

    @staticmethod
    def part(answer: Answer, probes: tuple[Look, ...], far: FarPages) -> PagesAlong:
        """Ask for a part of the pages `far`, after the second look's `probes` and its answer."""
        rates = OF_INSTRUCTIONS
        # The first looks after threads moved may be cold.
        for _, look in warmed([(probes[-1], look) for look in probes]):
            rates = rates.saw_before(*_seen(look))
        return PagesAlong("part", True, answer, far, rates=rates)

    def came(self, now: FarPages, rate: PageRate = TODAYS) -> PagesAlong:
        """With the part near: as far as memory near the threads has grown, and far memory has
        shrunk. The program may touch and free some meanwhile.
        """
        shrunk_bytes = self.far.far_bytes - now.far_bytes
        came_bytes = min(now.near_bytes - self.far.near_bytes, shrunk_bytes)
        if came_bytes < rate.few_bytes / 4:  # not permitted, or there is no room
            return self.over()
        return replace(self, came_bytes=came_bytes)

    def saw(self, look: Look) -> PagesAlong:
        """With one more look at the program, with the part near."""
        rates, passed_ns = self.rates.saw_after(*_seen(look)), self.passed_ns + look.elapsed_ns
        return replace(self, rates=rates, passed_ns=passed_ns)

    @property
    def gain(self) -> Gain | None:
        """The gain by all pages, from that by the part; None: too few looks so far."""
        found = self.rates.difference
        if found is None:
            return None
        times, most = self.far.far_bytes / self.came_bytes, self.far.latency_gain
        seen = (found.least, found.relative, found.most)
        return Gain(*(min(_by_all(each, times), most) for each in seen))

    @property
    def late(self) -> bool:
        """Whether a gain that is not clear by now will not be."""
        return len(self.rates.after) >= LOOKS or self.passed_ns > _PATIENCE_NS

    def all_after(self, answer: Answer) -> PagesAlong:
        """Ask for all pages, since that would be the answer."""
        return replace(self, asked="all", answer=answer, far=self.left)

    @property
    def left(self) -> FarPages:
        """The pages without the part."""
        return self.far._replace(far_bytes=self.far.far_bytes - self.came_bytes)

    def over(self, answer: Answer | None = None) -> PagesAlong:
        """Ask for no more pages. `answer` where all have come along."""
        return PagesAlong(tried=self.tried, answer=answer)


def faster(look: Look, gain: float) -> Look:
    """The look at a program that is faster by a relative gain, and does the same."""
    rates = {
        name: rate if name in _OF_TIME else rate * (1 + gain)
        for name, rate in look.behaviour.values.items()
    }
    return replace(look, behaviour=Behaviour(rates))


def _by_all(gain: float, times: float) -> float:
    """Gain by so many times as many pages: each saves the same time."""
    if gain <= -1:
        return -1.0
    if math.isinf(gain):
        return gain
    saved = times * gain / (1 + gain)
    return math.inf if saved >= 1 else 1 / (1 - saved) - 1


def _seen(look: Look) -> tuple[float, Phase, float]:
    return look.behaviour["instructions"], Phase.of(look.behaviour), look.elapsed_ns
