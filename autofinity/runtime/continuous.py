"""Continuous mode: has the program changed, and is another sample worth its cost? Pure.

After a placement the program's rates in that placement are the reference. Rates that differ from
the reference by more than a quarter, several looks in a row, are another phase of the program.
Another sample has a cost: every thread moves to the spread affinity and on to the answer and
refills its share of a last-level cache, and the sample itself may run slower. So a phase is sampled
again only when the present placement has lasted long enough to keep this cost below a twentieth of
the time. An answer that is nearly a tie moves no thread. A program that waits, for its next
request or for input, has not changed: looks in which its threads are not all at work do not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from autofinity.model.counters import Behaviour
from autofinity.model.topology import Topology
from autofinity.runtime.looking import refill_ns

_CHANGE = 0.25  # of the reference, relative
_LEAST_RATE = 1e4  # a second and thread; rarer events change by chance
_LOOKS = 2  # in a row
_BUDGET = 0.05  # of the time since the last placement
_SAMPLE_SLOWDOWN = 0.2  # the spread affinity may suit the program less
_LEAST_MARGIN = 0.05


@dataclass(frozen=True, slots=True)
class Watch:
    """Record of the looks since the present placement. Start with `Watch()`."""

    looks: int = 0
    elapsed_ns: int = 0
    reference: Behaviour | None = None
    deviating: int = 0
    """Looks in a row that differ from the reference."""
    changed: str = ""
    """The counter that changed most in the last look, with its change; empty for none."""

    def after(self, seen: Behaviour, elapsed_ns: int, counters: Iterable[str]) -> Watch:
        """The record with one more look. The first look still shows the move and is ignored."""
        watch = replace(self, looks=self.looks + 1, elapsed_ns=self.elapsed_ns + elapsed_ns)
        if watch.looks == 1:
            return watch
        if watch.reference is None:
            return replace(watch, reference=seen)
        name, change = _largest_change(watch.reference, seen, counters)
        if abs(change) <= _CHANGE:
            return replace(watch, deviating=0, changed="")
        return replace(watch, deviating=self.deviating + 1, changed=f"{name} {change:+.0%}")

    def passed(self, elapsed_ns: int) -> Watch:
        """The record with time that shows nothing of the program."""
        return replace(self, elapsed_ns=self.elapsed_ns + elapsed_ns)

    def worth_a_look(self, cost_ns: float) -> bool:
        """Whether the program has changed, and another sample now costs little enough."""
        return self.deviating >= _LOOKS and cost_ns <= _BUDGET * self.elapsed_ns


def look_cost_ns(topology: Topology, threads: int, sample_ns: int) -> float:
    """Cost of another sample to the program: two moves of all threads, and a slower sample."""
    return 2 * refill_ns(topology, threads) + _SAMPLE_SLOWDOWN * sample_ns


def decisive(margin: float) -> bool:
    """Whether an answer of this margin may move threads that another answer placed."""
    return not margin < _LEAST_MARGIN  # NaN, where nothing was measured, is no reason to stay


def _largest_change(
    reference: Behaviour, seen: Behaviour, counters: Iterable[str]
) -> tuple[str, float]:
    largest = "", 0.0
    for name in counters:
        before, now = reference[name], seen[name]
        # NaN, where nothing was measured, is no change.
        if max(before, now) >= _LEAST_RATE and math.isfinite(before) and math.isfinite(now):
            # A count that rises from zero is a change as well: software events often do.
            change = (now - before) / max(before, _LEAST_RATE)
            if abs(change) > abs(largest[1]):
                largest = name, change
    return largest
