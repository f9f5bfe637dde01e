"""Times of the looks at a program on an axis that begins with the first look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from autofinity.model.timeline import TimelineStep
from autofinity.report.plot_layout import axis

MOVES_CAPTION = "Each dotted line is a time at which threads were moved."

_LONG = 0.01
"""Share of the axis that a look lasts whose values set a scale."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Another series of looks, whose plots have the same scales: before or after this one."""

    looks: Sequence[TimelineStep]
    name: str
    """End of the names of this series' plots."""
    under: str
    """Conditions of this series, behind the titles of its plots: `under os`."""


@dataclass(frozen=True, slots=True)
class LookTimes:
    """Times of one or more looks, in seconds or milliseconds."""

    timeline: Sequence[TimelineStep]
    beside: Sequence[TimelineStep] = ()
    """Looks whose axis has the same unit and length."""

    @property
    def unit(self) -> str:
        """The unit that suits the length of all looks."""
        return "s" if self._lasted_ns >= 1e9 else "ms"

    @property
    def axis_title(self) -> str:
        """Title of the axis."""
        return f"time since the first look, {self.unit}"

    def axis(self, title: str, **more: Any) -> dict[str, Any]:
        """The axis: as long as the looks, or as those beside them where these last longer."""
        if self.beside:
            more["range"] = [0, self._scale * self._lasted_ns]
        return axis(title, **more)

    def middles(self) -> list[float]:
        """The middle of each look."""
        return [self._of((step.start_ns + step.end_ns) / 2) for step in self.timeline]

    def lengths(self) -> list[float]:
        """The length of each look."""
        return [short(self._scale * (step.end_ns - step.start_ns)) for step in self.timeline]

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

    def long_looks(self) -> list[TimelineStep]:
        """Looks, also those beside, that last at least 1 % of the axis; all where none does. A bar
        of a shorter look is as narrow as a line.
        """
        looks = (*self.timeline, *self.beside)
        least_ns = _LONG * self._lasted_ns
        return [each for each in looks if each.end_ns - each.start_ns >= least_ns] or list(looks)

    @property
    def _lasted_ns(self) -> int:
        return max(
            looks[-1].end_ns - looks[0].start_ns for looks in (self.timeline, self.beside) if looks
        )

    @property
    def _scale(self) -> float:
        return 1e-9 if self.unit == "s" else 1e-6

    def _of(self, ns: float) -> float:
        return short(self._scale * (ns - self.timeline[0].start_ns))


def short(value: float) -> float:
    """The value in five digits, more than a plot shows: a page has thousands of values."""
    return float(f"{value:.5g}")
