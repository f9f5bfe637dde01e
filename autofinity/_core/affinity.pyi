from collections.abc import Iterable, Sequence

from autofinity._core.topology import Machine
from autofinity.model.topology import OsIndex

type _Answer = tuple[tuple[OsIndex, ...], tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]

def best_match(
    machine: Machine,
    threads: int,
    spread_sockets: bool,
    spread_llcs: bool,
    socket_first: bool,
    available: Iterable[int] | None = None,
) -> _Answer | int: ...
def place(
    machine: Machine, occupancy: Sequence[Sequence[int]], available: Iterable[int] | None = None
) -> _Answer | int | None: ...
def place_near(
    machine: Machine,
    occupancy: Sequence[Sequence[int]],
    together: bool,
    away: Sequence[int],
    available: Iterable[int] | None = None,
) -> _Answer | None: ...
def edit_distance(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> int: ...
