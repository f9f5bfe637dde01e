"""Finds the end of a program's set-up from memory that is touched for the first time, and from the
looks. Pure.

While a program initialises, it touches new pages as fast as it can, and its work then (filling
arrays, reading input, sorting near data) is seldom its later work. So nothing is decided

- before the rate of new memory has fallen far below its maximum, or was low from the start;
- and before two looks in a row show the same phase. A program may change all the time, so this wait
  is short.

New memory is the growth of the resident size, where that is known: a program that releases pages
and takes them again faults for ever and does not grow. Elsewhere page faults are counted. A program
that grows for ever cannot be distinguished from a program with a long set-up: after half a minute
it is sampled all the same, and once more if the growth ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from autofinity.ports import Interval
from autofinity.runtime.looks import Look
from autofinity.runtime.phases import Phase

type Stage = Literal["setting up", "changing", "steady", "growing for ever"]

_NS_PER_S = 1_000_000_000
_PAGE_BYTES = 4096  # least memory that a fault adds
_QUIET_BYTES_PER_S = 10e6  # new memory a second of CPU time: 2,500 faults, a quarter of a per cent
_QUIET_SHARE = 0.05  # of the fastest that was seen
_LEAST_CPU_NS = 10_000_000
"""Least CPU time for a rate to be known: an exec adds some MB within one or two milliseconds, and
compared with gigabytes a second no set-up would be fast."""
_LOOKS = 2  # quiet ones in a row
_MOST_SETUP_NS = 30 * _NS_PER_S
_MOST_CHANGING_NS = _NS_PER_S


@dataclass(frozen=True, slots=True)
class Onset:
    """Record of a program's beginning. Start with `Onset()`."""

    seen_ns: int = 0
    """Total time of the looks that show something."""
    fastest: float = 0.0
    """Largest rate of new memory, in bytes per second of CPU time."""
    quiet: int = 0
    """Looks in a row in which hardly any new memory was touched."""
    quiet_ns: int = 0
    """Total time of these looks."""
    resident_bytes: float = math.nan
    """Resident size after the last look; NaN where unknown."""
    phase: Phase | None = None
    """Phase of the last look."""
    held: bool = False
    """Whether the phase of the last look was like the one before."""

    def after(self, interval: Interval, look: Look) -> Onset:
        """The record with one more look. An interval without CPU time shows nothing."""
        cpu_ns = sum(sample.counted("task_clock_ns") for sample in interval.samples)
        elapsed_ns = interval.end_ns - interval.start_ns
        seen = replace(self, resident_bytes=interval.resident_bytes)
        if cpu_ns <= 0:
            return seen
        seen = replace(seen, seen_ns=self.seen_ns + elapsed_ns)
        rate = self._new_bytes(interval) * _NS_PER_S / cpu_ns
        fastest = max(self.fastest, rate) if cpu_ns >= _LEAST_CPU_NS else self.fastest
        if rate > max(_QUIET_BYTES_PER_S, _QUIET_SHARE * fastest):
            return replace(seen, fastest=fastest, quiet=0, quiet_ns=0, phase=None, held=False)
        phase = Phase.of(look.behaviour)
        return replace(
            seen,
            fastest=fastest,
            quiet=self.quiet + 1,
            quiet_ns=self.quiet_ns + elapsed_ns,
            phase=phase,
            held=self.phase is not None and phase.like(self.phase),
        )

    @property
    def stage(self) -> Stage:
        """Stage of the program. It may be sampled in the last two stages."""
        if self.quiet < _LOOKS:
            return "setting up" if self.seen_ns < _MOST_SETUP_NS else "growing for ever"
        if not self.held and self.quiet_ns < _MOST_CHANGING_NS:
            return "changing"
        return "steady"

    def _new_bytes(self, interval: Interval) -> float:
        grown = interval.resident_bytes - self.resident_bytes
        if math.isfinite(grown):
            return max(0.0, grown)
        return _PAGE_BYTES * sum(sample.counted("page_faults") for sample in interval.samples)
