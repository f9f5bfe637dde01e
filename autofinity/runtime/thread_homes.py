"""Node on which each thread touched its pages: where it ran until it was bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Interval
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.placed import Placed


class ThreadHomes:
    """Homes by number of the thread."""

    def __init__(self, topology: Topology) -> None:
        """Homes of no thread are known yet."""
        self._topology = topology
        self._homes: dict[int, int] = {}

    @property
    def by_number(self) -> dict[int, int]:
        """The logical node of each thread whose home is known, as a copy."""
        return dict(self._homes)

    def note(self, before: LiveState, interval: Interval) -> None:
        """Record homes: until threads are bound, where they run; for later threads, where they
        begin.
        """
        for number in interval.threads("end"):
            self._homes.pop(number, None)
        for number, cpu in enumerate(interval.cpus):
            pu = self._topology.by_os_index.get(cpu)
            if pu is not None and (not before.placed.cpus or number not in self._homes):
                self._homes[number] = pu.node

    def restore(self, homes: Mapping[int, int]) -> None:
        """Take the homes of an earlier time for those of now."""
        self._homes = dict(homes)

    def move(self, numbers: Sequence[int], nodes: Sequence[int]) -> None:
        """Pages of these threads are on these nodes now."""
        self._homes.update(zip(numbers, nodes, strict=True))

    def of(self, numbers: Iterable[int]) -> list[int]:
        """Homes of threads that are all known."""
        return [self._homes[number] for number in numbers]

    def of_cpus(self, placed: Placed, cpus: Sequence[OsIndex]) -> list[int] | None:
        """Nodes of the placed threads now; None where the CPU of a thread is not known, or threads
        take turns on several nodes.
        """
        pus, numbers = self._topology.by_os_index, placed.threads
        if any(number >= len(cpus) or cpus[number] not in pus for number in numbers):
            return None
        if len(placed.seats) < len(numbers) and len(self.nodes(placed.seats)) > 1:
            return None
        return [pus[cpus[number]].node for number in numbers]

    def of_seats(self, placed: Placed) -> list[int] | None:
        """Nodes of the threads' seats; None where a thread has no seat, or its home is unknown."""
        numbers = placed.threads
        if len(placed.seats) != len(numbers) or not self._homes.keys() >= set(numbers):
            return None
        return [self._topology.by_os_index[cpu].node for cpu in placed.seats]

    def nodes(self, cpus: Iterable[OsIndex]) -> set[int]:
        """Logical nodes of CPUs."""
        return {self._topology.by_os_index[cpu].node for cpu in cpus}
