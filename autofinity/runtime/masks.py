"""From a core set to masks: the CPUs that each thread may use, and the process as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from autofinity.model.cpu_lists import format_cpu_list
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
    """Masks of single PUs, each widened as `bind` requires. A PU that the kernel has isolated stays
    alone: beside others, threads would not be balanced between them.
    """
    if bind == "none":
        return tuple(available for _ in masks)
    if bind == "core":
        return tuple(masks)

    def domain(pu: PU) -> tuple[int, int]:
        return pu.llc, pu.efficiency

    domains: dict[tuple[int, int], set[OsIndex]] = {}
    balanced = available - topology.isolated
    for pu in topology.pus:
        if pu.os_index in balanced:
            domains.setdefault(domain(pu), set()).add(pu.os_index)

    def wide(cpu: OsIndex) -> Collection[OsIndex]:
        return {cpu} if cpu in topology.isolated else domains[domain(topology.by_os_index[cpu])]

    return tuple(frozenset().union(*map(wide, mask)) for mask in masks)


def isolation_note(topology: Topology) -> str:
    """Note on isolated CPUs among those that may be used; empty where there are none."""
    found = topology.isolated & topology.allowed
    if not found:
        return ""
    which = f"CPUs {format_cpu_list(found)} are isolated, so the kernel balances no threads there"
    if found == topology.allowed:
        return f"{which}: each thread that is placed keeps to one of them"
    return f"{which}: threads are placed on the others"


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
