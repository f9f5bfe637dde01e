"""One task, all mappers: cost of their mappings and time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from autofinity.mapping.cost import cost
from autofinity.mapping.mappers import MAPPERS
from autofinity.model.errors import AutofinityError
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology

_TWO = SharingMatrix(((0.0, 1.0), (1.0, 0.0)))


@dataclass(frozen=True, slots=True)
class Mapped:
    """Mapping of a task by a mapper, or the reason why there is none."""

    name: str
    cpus: tuple[OsIndex, ...] = ()
    cost: float = float("nan")
    time_s: float = float("nan")
    reason: str = ""
    """Reason why there is no mapping; empty where there is one."""


def mapped(
    name: str, sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> Mapped:
    """Mapping by the mapper called `name`. Raises the errors of that mapper."""
    MAPPERS[name].run(_TWO, topology, available)  # loading at the first call is not timed
    begin = perf_counter()
    cpus = MAPPERS[name].run(sharing, topology, available)
    time_s = perf_counter() - begin
    return Mapped(name, cpus, cost(sharing, topology, cpus), time_s)


def compared(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> Iterator[Mapped]:
    """Mappings by each mapper in turn; a mapper that would take seconds, or fails, gives only the
    reason.
    """
    for name, mapper in MAPPERS.items():
        if sharing.threads > mapper.quick_up_to:
            reason = f"slow with more than {mapper.quick_up_to} threads: ask for it by name"
            yield Mapped(name, reason=reason)
            continue
        try:
            yield mapped(name, sharing, topology, available)
        except AutofinityError as error:
            yield Mapped(name, reason=str(error))
