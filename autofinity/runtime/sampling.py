"""A program that is being sampled: the looks so far, in the places of the policy's looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from autofinity.ports import Interval
from autofinity.runtime.looks import Look


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sample that is being taken, or was taken last. Start with `Sampling()`."""

    room: int = 0
    """Room of the threads when sampling began, which all rates of the sample are divided by; 0: it
    never began."""
    starts: tuple[Look, ...] = ()
    """Looks in the starting affinity."""
    probes: tuple[Look, ...] = ()
    """Looks of the second look."""
    again: bool = False
    """Whether the second look of the policy is under way, or was taken."""
    visits: int = 0
    """Number of moves of the threads to a look."""
    work: Mapping[int, float] = field(default_factory=dict)
    """Instructions of each thread, by number; NaN where they were not counted in every look."""

    def moved(self) -> Sampling:
        """Threads move once more."""
        return replace(self, visits=self.visits + 1)

    def going(self, *, again: bool) -> Sampling:
        """Threads go to the second look, or back to the starting affinity."""
        return replace(self, again=again)

    def saw(self, look: Look) -> Sampling:
        """With one more look where threads are."""
        if self.again:
            return replace(self, probes=(*self.probes, look))
        return replace(self, starts=(*self.starts, look))

    def worked(self, alive: Iterable[tuple[int, int]], interval: Interval) -> Sampling:
        """With the work of one more look of the threads (number, tid) that are alive."""
        done = {
            each.tid: each.scaled("instructions")
            for each in interval.samples
            if "instructions" in each.counts
        }
        work = {
            number: self.work.get(number, 0.0) + done.get(tid, float("nan"))
            for number, tid in alive
        }
        return replace(self, work=work)

    def without_probes(self) -> Sampling:
        """The second look begins again."""
        return replace(self, probes=())

    def over(self) -> Sampling:
        """The answer is final: its looks are not needed any more."""
        return replace(self, starts=(), probes=())
