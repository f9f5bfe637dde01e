"""From a core set to masks: which CPUs each thread may use, and the process as a whole."""

from __future__ import annotations

from typing import Literal

from autofinity.model.placement import CoreSet
from autofinity.model.topology import OsIndex, Topology

type Binding = Literal["llc", "core", "none"]


def thread_masks(
    topology: Topology, cores: CoreSet, available: frozenset[OsIndex], bind: Binding
) -> tuple[frozenset[OsIndex], ...]:
    """One mask a thread, in thread order: its LLC domain's available PUs, or its own PU.

    A whole domain leaves the kernel room to balance inside it and costs no cache; a single PU is
    for programs that do not share the machine.
    """
    if bind == "none":
        return tuple(available for _ in cores.cpus)
    if bind == "core":
        return tuple(frozenset({cpu}) for cpu in cores.cpus)
    domains: dict[int, set[OsIndex]] = {}
    for pu in topology.pus:
        if pu.os_index in available:
            domains.setdefault(pu.llc, set()).add(pu.os_index)
    return tuple(frozenset(domains[topology.by_os_index[cpu].llc]) for cpu in cores.cpus)


def union(masks: tuple[frozenset[OsIndex], ...]) -> frozenset[OsIndex]:
    """CPUs of all masks together."""
    return frozenset().union(*masks)
