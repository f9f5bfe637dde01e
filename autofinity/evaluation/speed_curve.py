"""How many threads, or CPUs, are worth having: the same work at several counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from autofinity.model.affinity import Hint

PAYS = 0.05
"""Share of the time by which a count has to be faster to be worth its CPUs."""

type Counted = Literal["threads", "CPUs"]
"""The varied quantity: a captured program keeps its threads, and gets more or fewer CPUs."""


@dataclass(frozen=True, slots=True)
class Point:
    """One count."""

    threads: int
    """Thread count that was passed to the program."""
    cpus: int
    """CPUs that were chosen for the threads; 0: whatever the system chose."""
    cores: int
    """Cores of these CPUs: fewer, where threads are on siblings."""
    time_s: float
    """In the placement that was chosen; the median, where it ran several times."""
    hint: Hint | None = None
    """Whose best match that is; None where nothing was decided."""
    read_gbs: float | None = None
    """10^9 bytes from memory a second; None where nothing counted them."""
    scatter: float | None = None
    """(slowest − fastest) / median of the repeated times; None of one time."""
    best_hint: Hint | None = None
    """The fastest of the hints; None where only the chosen one ran."""
    best_s: float = math.nan


@dataclass(frozen=True, slots=True)
class Curve:
    """A program at several counts."""

    program: str
    machine: str
    counted: Counted
    points: tuple[Point, ...]
    """By count, ascending; at least one."""
    notes: tuple[str, ...] = ()
    repeated: str = ""
    """Times that `Point.scatter` is over, such as "3 runs"; empty: each count has one."""

    @property
    def scatter(self) -> float | None:
        """The largest of the points; None where no count was repeated."""
        return max((p.scatter for p in self.points if p.scatter is not None), default=None)

    @property
    def noise(self) -> float:
        """Share of the fastest time up to which a difference counts as none: `PAYS`, or the spread
        of repeated times, where that is more.
        """
        return max(PAYS, self.scatter or 0.0)

    @property
    def alike(self) -> tuple[Point, ...]:
        """The points that are as fast as the fastest, within `noise`."""
        fastest = min(point.time_s for point in self.points)
        return tuple(p for p in self.points if p.time_s <= fastest * (1 + self.noise))

    @property
    def on_noise(self) -> str:
        """One line on `noise` and `alike`."""
        measured = (
            f"times of one count differed by up to {self.scatter:.1%} over {self.repeated}"
            if self.scatter is not None
            else "noise was not measured, each count has one time"
        )
        alike = ", ".join(map(self.name_of, self.alike))
        return (
            f"differences up to {self.noise:.1%} count as none ({measured}); within that of the "
            f"fastest: {alike}"
        )

    @property
    def enough(self) -> Point:
        """The first point than which none is faster by more than `noise`."""
        return self.alike[0]

    def count_of(self, point: Point) -> int:
        """Value of the varied quantity at a point."""
        return point.threads if self.counted == "threads" else point.cpus

    def name_of(self, point: Point) -> str:
        """The count, and the cores where CPUs are siblings."""
        siblings = f" on {point.cores} cores" if point.cores < point.cpus else ""
        return f"{self.count_of(point)}{siblings}"

    def speed(self, time_s: float) -> float:
        """Over that of the first point."""
        return self.points[0].time_s / time_s

    @property
    def advice(self) -> str:
        """One line."""
        enough = self.enough
        if len(self.points) == 1:
            return f"one count of {self.counted} was tried"
        what = self.counted if self.count_of(enough) > 1 else self.counted.removesuffix("s")
        if enough is self.points[-1]:
            return f"all {self.count_of(enough)} {what} that were tried pay"
        fastest = min(self.points, key=lambda point: point.time_s)
        gained = 1 - fastest.time_s / enough.time_s
        more = f"with more it is {gained:.1%} faster at most" if gained > 0 else "more is no faster"
        where = f" on {enough.cores} cores" if enough.cores < enough.cpus else ""
        verb = "are" if self.count_of(enough) > 1 else "is"
        return f"{self.count_of(enough)} {what}{where} {verb} enough: {more}"
