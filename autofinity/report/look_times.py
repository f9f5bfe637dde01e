"""Times of the looks at a program on an axis that begins with the first look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from autofinity.model.timeline import TimelineStep

MOVES_CAPTION = "Each dotted line is a time at which threads were moved."


@dataclass(frozen=True, slots=True)
class LookTimes:
    """Times of one or more looks, in seconds or milliseconds."""

    timeline: Sequence[TimelineStep]

    @property
    def unit(self) -> str:
        """The unit that suits the length of all looks."""
        lasted_ns = self.timeline[-1].end_ns - self.timeline[0].start_ns
        return "s" if lasted_ns >= 1e9 else "ms"

    @property
    def axis_title(self) -> str:
        """Title of the axis."""
        return f"time since the first look, {self.unit}"

    def middles(self) -> list[float]:
        """The middle of each look."""
        return [self._of((step.start_ns + step.end_ns) / 2) for step in self.timeline]

    def lengths(self) -> list[float]:
        """The length of each look."""
        return [self._scale * (step.end_ns - step.start_ns) for step in self.timeline]

    def edges(self) -> list[float]:
        """The bounds of the columns of a map: a column for each look, and for each time between two
        looks in which nobody looked.
        """
        found = [self.timeline[0].start_ns]
        for before, step in pairwise(self.timeline):
            found += [before.end_ns] * (step.start_ns > before.end_ns) + [step.start_ns]
        return [self._of(ns) for ns in (*found, self.timeline[-1].end_ns)]

    def by_column(self, values: Sequence[float]) -> list[float]:
        """Values of the columns of a map, from one value for each look; NaN where nobody looked."""
        found = [values[0]]
        for before, step, value in zip(self.timeline, self.timeline[1:], values[1:], strict=False):
            found += [math.nan] * (step.start_ns > before.end_ns) + [value]
        return found

    def moves(self) -> list[float]:
        """Beginnings of looks in which threads are placed otherwise than in the look before."""
        return [
            self._of(step.start_ns)
            for before, step in pairwise(self.timeline)
            if step.place != before.place
        ]

    @property
    def _scale(self) -> float:
        return 1e-9 if self.unit == "s" else 1e-6

    def _of(self, ns: float) -> float:
        return self._scale * (ns - self.timeline[0].start_ns)
