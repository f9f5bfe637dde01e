"""Which thread may run on which PUs, and where pages are put."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.topology import OsIndex


@dataclass(frozen=True, slots=True)
class CoreSet:
    """Answer of GETAFFINITY: one PU for each thread, and the class that these PUs form.

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


@dataclass(frozen=True, slots=True)
class PagePlacement:
    """Node of a page when the page is first touched."""

    policy: Literal["first_touch", "interleave"] = "first_touch"
    nodes: Mapping[int, int] = field(default_factory=dict)
    """Logical node of single pages (4 KiB page numbers); it overrides the policy."""


FIRST_TOUCH = PagePlacement()
