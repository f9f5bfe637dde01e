"""What a run would do, without doing it: the masks that each hint would give."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import HINTS, Hint
from autofinity.model.errors import PlacementError
from autofinity.model.placement import CoreSet
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.claims import free_cpus
from autofinity.runtime.masks import Binding, thread_masks


@dataclass(frozen=True, slots=True)
class HintPlan:
    """Where a hint would put the threads."""

    hint: Hint
    cores: CoreSet
    masks: tuple[frozenset[OsIndex], ...]
    """One a thread, in thread order."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All hints, and the CPUs they were chosen from."""

    available: frozenset[OsIndex]
    hints: tuple[HintPlan, ...]
    note: str
    """What other runs, or too few CPUs, mean for it; empty for nothing."""


def plan_hints(
    topology: Topology,
    threads: int,
    available: frozenset[OsIndex],
    taken: frozenset[OsIndex],
    bind: Binding,
) -> Plan:
    """Cores and masks of each hint for `threads` threads on `available` beside runs on `taken`."""
    free, note = free_cpus(topology, threads, available, taken)
    found = []
    try:
        for hint in HINTS:
            cores = get_affinity(topology, threads, hint, free)
            found.append(HintPlan(hint, cores, thread_masks(topology, cores, free, bind)))
    except PlacementError as error:
        note = f"left as it is: {error}"
    return Plan(free, tuple(found), note)
