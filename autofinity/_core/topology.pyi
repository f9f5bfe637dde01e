from collections.abc import Sequence

class Machine:
    """The PUs of a machine, the SLIT row by row, and the OS indices of PUs that may be used.

    A row of `pus`: OS index, SMT rank, core, L2, LLC domain, socket, node, kind of core (larger
    is faster).
    """

    def __init__(
        self,
        pus: Sequence[tuple[int, int, int, int, int, int, int, int]],
        slit: Sequence[int],
        nodes: int,
        allowed: Sequence[int],
    ) -> None: ...
    def distance(self, a: int, b: int) -> float:
        """The distance of two PUs, in SLIT's unit."""
    def path(self, cpu: int) -> tuple[int, ...]:
        """The part of each level that a PU lies in, outermost first."""
