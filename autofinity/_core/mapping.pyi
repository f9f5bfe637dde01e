from collections.abc import Callable, Sequence

from autofinity.model.topology import OsIndex

type _Rows = Sequence[Sequence[float]]

class Machine:
    """A topology as the mappers see it. Seats and CPUs are OS indices."""

    def __init__(self, pus: Sequence[Sequence[int]], slit: Sequence[float], nodes: int) -> None: ...
    def distance(self, a: int, b: int) -> float: ...
    def cost(self, sharing: _Rows, cpus: Sequence[int]) -> float: ...
    def eager(self, sharing: _Rows, seats: Sequence[int]) -> tuple[OsIndex, ...]: ...
    def refined(self, sharing: _Rows, cpus: Sequence[int]) -> tuple[OsIndex, ...]: ...
    def exact(
        self, sharing: _Rows, cpus: Sequence[int], most_steps: int
    ) -> tuple[OsIndex, ...] | None: ...
    def by_groups(
        self,
        sharing: _Rows,
        seats: Sequence[int],
        group: Callable[
            [list[list[float]], list[int], int, list[tuple[int, int]]], Sequence[Sequence[int]]
        ],
    ) -> tuple[OsIndex, ...]: ...
