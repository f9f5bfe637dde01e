"""Plan of a run, without running it: the masks that each hint would give."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.affinity.hints import get_affinity
from autofinity.affinity.near import NOWHERE
from autofinity.model.affinity import HINTS, Hint
from autofinity.model.errors import PlacementError
from autofinity.model.placement import CoreSet
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.claims import free_cpus
from autofinity.runtime.masks import Binding, thread_masks
from autofinity.runtime.undecided import LEFT


@dataclass(frozen=True, slots=True)
class HintPlan:
    """Cores and masks that a hint would give the threads."""

    hint: Hint
    cores: CoreSet
    masks: tuple[frozenset[OsIndex], ...]
    """One mask for each thread, in thread order."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Plans of all hints, and the CPUs that they were chosen from."""

    available: frozenset[OsIndex]
    hints: tuple[HintPlan, ...]
    note: str
    """Effect of other runs, or of too few CPUs, on the plan; empty for none."""


def plan_hints(
    topology: Topology,
    threads: int,
    available: frozenset[OsIndex],
    taken: frozenset[OsIndex],
    bind: Binding,
    near: frozenset[int] = NOWHERE,
) -> Plan:
    """Cores and masks of each hint for `threads` threads on `available` beside runs on `taken`,
    nearest to the logical nodes `near` of a device.
    """
    free, note = free_cpus(topology, threads, available, taken)
    found = []
    try:
        for hint in HINTS:
            cores = get_affinity(topology, threads, hint, free, near)
            found.append(HintPlan(hint, cores, thread_masks(topology, cores, free, bind)))
    except PlacementError as error:
        note = f"{LEFT}{error}"
    return Plan(free, tuple(found), note)
