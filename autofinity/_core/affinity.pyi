from collections.abc import Iterable, Sequence

from autofinity.model.topology import OsIndex

type _Answer = tuple[tuple[OsIndex, ...], tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]

class Machine:
    """A topology as the native search sees it."""

    def __init__(
        self,
        pus: Sequence[Sequence[int]],
        distances: Sequence[int],
        nodes: int,
        allowed: Sequence[int],
    ) -> None: ...
    def best_match(
        self,
        threads: int,
        spread_sockets: bool,
        spread_llcs: bool,
        socket_first: bool,
        available: Iterable[int] | None = None,
    ) -> _Answer | int: ...
    def place(
        self, occupancy: Sequence[Sequence[int]], available: Iterable[int] | None = None
    ) -> _Answer | int | None: ...

def edit_distance(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> int: ...
