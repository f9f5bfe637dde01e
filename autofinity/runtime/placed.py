"""Threads that a run has placed, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.topology import OsIndex
from autofinity.ports import Interval


@dataclass(frozen=True, slots=True)
class Placed:
    """The present placement, or what is left of it where threads were left alone since. Start with
    `Placed()`.
    """

    threads: tuple[int, ...] = ()
    """Numbers of the threads that it is for, or that were left alone."""
    renewed: frozenset[int] = frozenset()
    """Those of the numbers that other threads have by now: these were not placed."""
    hint: Hint | None = None
    room: int = 0
    """Number of cores: one for each thread, or some more than ran at a time."""
    affinity: Affinity | None = None
    """None where no thread was bound to it."""
    seats: tuple[OsIndex, ...] = ()
    """PUs before masks are widened: first those of the threads `seated`, in order."""
    seated: tuple[int, ...] = ()
    """Numbers of the threads that have a seat of their own; the others share all seats."""
    cpus: frozenset[OsIndex] = frozenset()
    """CPUs of all threads together; empty where threads may run anywhere."""
    available: frozenset[OsIndex] = frozenset()
    """CPUs that the placement was chosen from."""
    allowed: frozenset[OsIndex] = frozenset()
    """CPUs that were allowed when threads were placed or left alone, other runs' among them."""
    crowded: bool = False
    """Whether other runs limited the placement."""

    @property
    def seat_of(self) -> Mapping[int, OsIndex]:
        """Seats of the threads that have their own, by number."""
        return dict(zip(self.seated, self.seats, strict=False))

    @property
    def all_seated(self) -> bool:
        """Whether each thread has a seat of its own."""
        return len(self.seated) == len(self.seats) == len(self.threads)

    def after(self, interval: Interval) -> Placed:
        """The placement after one more look."""
        renewed = (self.renewed | interval.threads("begin")).intersection(self.threads)
        return replace(self, renewed=renewed)

    def left_alone(self, threads: tuple[int, ...], allowed: frozenset[OsIndex]) -> Placed:
        """From now on other threads, or other allowed CPUs, are news."""
        return replace(self, threads=threads, allowed=allowed)
