"""Which thread may run on which PUs."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.topology import OsIndex


@dataclass(frozen=True, slots=True)
class CoreSet:
    """What GETAFFINITY answers: one PU a thread, and the class they form.

    `cpus` is in thread order: threads fill the set domain by domain in creation order.
    """

    cpus: tuple[OsIndex, ...]
    affinity: Affinity
    occupancy: tuple[tuple[int, ...], ...]
    """Threads in each LLC domain of each socket of the machine, in logical order, zeros kept."""
    hint: Hint | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """Thread → PUs it may run on. Threads are numbered by creation, from 0."""

    masks: tuple[frozenset[OsIndex], ...]
