from collections.abc import Callable, Sequence

from autofinity._core.topology import Machine
from autofinity.model.topology import OsIndex

type _Rows = Sequence[Sequence[float]]

# Seats and CPUs are OS indices.
def cost(machine: Machine, sharing: _Rows, cpus: Sequence[int]) -> float: ...
def mapped(
    machine: Machine, mapper: str, sharing: _Rows, seats: Sequence[int]
) -> tuple[OsIndex, ...]: ...
def exact(
    machine: Machine, sharing: _Rows, cpus: Sequence[int], most_steps: int
) -> tuple[OsIndex, ...] | None: ...
def by_groups(
    machine: Machine,
    sharing: _Rows,
    seats: Sequence[int],
    group: Callable[
        [list[list[float]], list[int], int, list[tuple[int, int]]], Sequence[Sequence[int]]
    ],
) -> tuple[OsIndex, ...]: ...
