"""Maps threads to CPUs by their sharing: by one mapper, compared with all others."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.affinity.hints import get_affinity
from autofinity.mapping.compare import Mapped, compared, mapped
from autofinity.mapping.mappers import MAPPERS
from autofinity.model.affinity import Hint
from autofinity.model.errors import UsageError
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology


@dataclass(frozen=True, slots=True)
class MappedBeside:
    """The mapping of the chosen mapper, and those of all mappers."""

    used: frozenset[OsIndex]
    """The CPUs that all mappers used."""
    chosen: Mapped
    all: list[Mapped]


def map_threads(
    sharing: SharingMatrix,
    topology: Topology,
    algorithm: str,
    hint: Hint,
    available: frozenset[OsIndex] | None = None,
) -> MappedBeside:
    """Map onto the best match of the hint among the available CPUs, by default all allowed ones.

    With more threads than CPUs all CPUs are used. Raises `UsageError` for an unknown algorithm or
    an invalid sharing matrix, `PlacementError`.
    """
    if algorithm not in MAPPERS:
        raise UsageError(f"unknown mapper {algorithm!r}; expected one of {', '.join(MAPPERS)}")
    used = topology.allowed if available is None else available
    if sharing.threads <= len(used):
        used = frozenset(get_affinity(topology, sharing.threads, hint, used).cpus)
    try:
        chosen = mapped(algorithm, sharing, topology, used)
    except ValueError as error:
        raise UsageError(str(error)) from error
    everyone = [chosen if m.name == algorithm else m for m in compared(sharing, topology, used)]
    return MappedBeside(used, chosen, everyone)
