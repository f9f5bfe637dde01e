"""GETAFFINITY on one machine: the class of each hint for each thread count."""

from __future__ import annotations

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.topology import OsIndex, Topology


class BestMatches:
    """Best matches by thread count and hint, each computed once."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.cores = all_cores(topology)
        self._known: dict[tuple[int, Hint], Affinity] = {}

    def __call__(self, threads: int, hint: Hint) -> Affinity:
        """Class of the best match. Raises `PlacementError` as `get_affinity` does."""
        found = self._known.get((threads, hint))
        if found is None:
            found = get_affinity(self.topology, threads, hint).affinity
            self._known[threads, hint] = found
        return found


def all_cores(topology: Topology, available: frozenset[OsIndex] | None = None) -> Affinity:
    """The affinity of one thread on every core that may be used: the shape of a machine.

    Raises the errors of `get_affinity`.
    """
    usable = topology.allowed if available is None else available
    cores = {pu.core for pu in topology.pus if pu.os_index in usable}
    return get_affinity(topology, len(cores), SPREAD, available).affinity
