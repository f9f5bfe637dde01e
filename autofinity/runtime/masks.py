"""From a core set to masks: the CPUs that each thread may use, and the process as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from autofinity.model.placement import CoreSet, Placement
from autofinity.model.topology import PU, OsIndex, Topology
from autofinity.ports import BindThreads

type Binding = Literal["llc", "core", "none"]


def thread_masks(
    topology: Topology, cores: CoreSet, available: frozenset[OsIndex], bind: Binding
) -> tuple[frozenset[OsIndex], ...]:
    """One mask for each thread, in thread order: the available PUs of its LLC domain of one kind of
    core, or its own PU.

    A whole domain lets the kernel balance inside the domain at no cost in cache; a single PU is for
    programs that do not share the machine.
    """
    own = tuple(frozenset({cpu}) for cpu in cores.cpus)
    return widened(topology, own, available, bind)


def widened(
    topology: Topology,
    masks: Sequence[frozenset[OsIndex]],
    available: frozenset[OsIndex],
    bind: Binding,
) -> tuple[frozenset[OsIndex], ...]:
    """Masks of single PUs, each widened as `bind` requires."""
    if bind == "none":
        return tuple(available for _ in masks)
    if bind == "core":
        return tuple(masks)

    def domain(pu: PU) -> tuple[int, int]:
        return pu.llc, pu.efficiency

    domains: dict[tuple[int, int], set[OsIndex]] = {}
    for pu in topology.pus:
        if pu.os_index in available:
            domains.setdefault(domain(pu), set()).add(pu.os_index)
    return tuple(
        frozenset().union(*(domains[domain(topology.by_os_index[cpu])] for cpu in mask))
        for mask in masks
    )


def union(masks: tuple[frozenset[OsIndex], ...]) -> frozenset[OsIndex]:
    """CPUs of all masks together."""
    return frozenset().union(*masks)


def binding(
    placed: Sequence[int],
    masks: Sequence[frozenset[OsIndex]],
    alive: Iterable[int],
    anywhere: frozenset[OsIndex],
) -> BindThreads:
    """Action that binds the threads `placed` to their masks, by number.

    Every other live thread may run `anywhere`: it may have inherited the narrow mask of a placed
    thread.
    """
    by_number = {**dict.fromkeys(alive, anywhere), **dict(zip(placed, masks, strict=True))}
    numbers = range(1 + max(by_number, default=-1))
    return BindThreads(Placement(tuple(by_number.get(n, frozenset()) for n in numbers)))
