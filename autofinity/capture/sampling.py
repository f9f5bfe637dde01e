"""Places of the windows of a sampled capture.

A sampled capture records windows of a long run. Between windows it records only the lines that each
thread touched last (`native/capture/record/cuts.h`). So the trace of a run of any length stays
small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Choice = Literal["auto", "always", "never"]
"""Whether captures are sampled; `auto`: those of an input whose size is not in `WHOLE_SIZES`."""
WHOLE_SIZES = ("tiny", "small", "medium", "core", "llc")
"""Sizes that are captured whole, whichever the program: with 8 threads at most 510 million
accesses, but for lu and keysearch (llc, up to 0.9 G), pricer and md (medium, core and llc, up to
2.0 G) and align (llc, 4.4 G), by training/README.md. Commands that need whole traces take these
sizes.
"""
_OF_A_THREAD = 64 << 10
_LEAST_THREADS = 4
_LEAST_SPACING = 8 << 20
_SHARE = 16


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """Plan of the windows. Numbers are accesses of all threads."""

    spacing: int
    """Accesses from one of the first 32 windows to the next; the number doubles after these, and
    after every 16 more."""
    window_accesses: int
    seed: int = 1
    """Random seed for the place of each window in its part of the run."""

    @classmethod
    def of(cls, threads: int) -> WindowPlan:
        """Plan with 64 Ki accesses for each thread and window, a 16th of the first 268 M accesses
        or less.

        300 M accesses with 8 threads give 34 windows.
        """
        window = max(threads, _LEAST_THREADS) * _OF_A_THREAD
        return cls(max(_LEAST_SPACING, _SHARE * window), window)

    @classmethod
    def chosen(cls, choice: Choice, size: str, threads: int) -> WindowPlan | None:
        """Plan for an input of that size; None: the input is recorded whole."""
        sampled = choice == "always" or (choice == "auto" and size not in WHOLE_SIZES)
        return cls.of(threads) if sampled else None

    def __str__(self) -> str:
        """Text that the runtime reads from AUTOFINITY_CAPTURE_SAMPLE."""
        return f"{self.spacing},{self.window_accesses},{self.seed}"
