"""Mapping of threads to CPUs from the sharing between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autofinity.api.arguments import cpu_numbers_of
from autofinity.api.hints import as_hint
from autofinity.api.machines import WIDTH, Machine, as_machine
from autofinity.model.affinity import Hint
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from autofinity.model.sharing import SharingMatrix
    from autofinity.workflow.map import MappedBeside


@dataclass(frozen=True, slots=True)
class MappedThreads:
    """A CPU for each thread. Notebooks show the mapping on the machine, and the costs of other
    mappers.

    * `machine`: the machine of the CPUs.
    * `algorithm`: name of the mapper.
    * `cpus`: the kernel's number of each thread's CPU, in thread order.
    * `cost`: sharing times distance over all pairs of threads: 0 on one CPU, 1 in a core, 2 in an
      L2, 4 in a last-level cache, 10 in a node, and the SLIT between nodes. NaN where that is
      unknown.
    * `inside`: internal type, which may change.

    >>> mapped = af.map_threads([[0, 9], [9, 0]], "opteron-6164he")
    >>> mapped.algorithm, mapped.cost, bool(mapped.algorithms.cost["refined"] == mapped.cost)
    ('refined', 36.0, True)
    """

    machine: Machine = field(repr=False)
    algorithm: str
    cpus: tuple[int, ...]
    cost: float
    inside: MappedBeside = field(repr=False)

    @property
    def algorithms(self) -> pd.DataFrame:
        """Table of all mappers on the same CPUs, by name: `cost`, `time_s` (seconds), and `reason`
        where a mapper gave no mapping.
        """
        import pandas as pd

        rows = [(m.name, m.cost, m.time_s, m.reason) for m in self.inside.all]
        frame = pd.DataFrame(rows, columns=["algorithm", "cost", "time_s", "reason"])
        return frame.set_index("algorithm")

    def __str__(self) -> str:
        from autofinity.report.picture import draw

        cpus = [OsIndex(cpu) for cpu in self.cpus]
        return f"{self._said()}\n{draw(self.machine.topology, WIDTH, cpus).plain.rstrip()}"

    def _said(self) -> str:
        threads = f"{len(self.cpus)} thread{'s' * (len(self.cpus) != 1)}"
        return f"{self.algorithm}: {threads} at a cost of {self.cost:g}"

    def _repr_html_(self) -> str:
        from autofinity.report.machine_drawing import OnMachine, machine_svg

        cpus = [OsIndex(cpu) for cpu in self.cpus]
        drawing = machine_svg(self.machine.topology, OnMachine.seated(cpus), lines=[self._said()])
        table: str = self.algorithms.to_html(float_format="{:.4g}".format)
        return drawing + table


def map_threads(
    sharing: npt.ArrayLike,
    machine: Machine | str,
    *,
    algorithm: str = "refined",
    hint: Hint | str = "packed",
    available: Iterable[int] | None = None,
) -> MappedThreads:
    """Map threads to CPUs so that threads that share most are closest.

    `sharing` is the amount that each thread shares with each other, [threads, threads], symmetric,
    not negative; the diagonal is ignored. The CPUs are those of the best match of `hint` among
    `available`, the kernel's numbers of CPUs, by default all that are allowed; with more threads
    than CPUs, all of them. Raises `AutofinityError` for another matrix, and for an unknown machine,
    hint or algorithm.

    >>> af.map_threads([[0, 9], [9, 0]], "opteron-6164he").cpus
    (0, 1)
    """
    from autofinity.mapping.cost import is_known
    from autofinity.workflow.map import map_threads as mapped_beside

    on = as_machine(machine)
    among = None if available is None else frozenset(cpu_numbers_of(available, "available"))
    matrix = _matrix(sharing)
    done = mapped_beside(matrix, on.topology, algorithm, as_hint(hint), among)
    known = is_known(on.topology, done.chosen.cpus)
    cost = done.chosen.cost if known else float("nan")
    return MappedThreads(on, algorithm, tuple(map(int, done.chosen.cpus)), cost, done)


def _lengths(rows: Sequence[object]) -> set[int]:
    """Numbers of values in rows of unequal length; empty where they have the same."""
    lengths = {len(row) for row in rows if isinstance(row, Sequence)}
    return lengths if len(lengths) > 1 else set()


def _matrix(sharing: npt.ArrayLike) -> SharingMatrix:
    import numpy as np

    from autofinity.model.sharing import SharingMatrix

    if isinstance(sharing, Sequence) and (lengths := _lengths(sharing)):
        raise UsageError(
            f"the sharing matrix has rows of {min(lengths)} to {max(lengths)} values; expected "
            f"{len(sharing)} in each, one per thread"
        )
    try:
        if np.iscomplexobj(sharing):
            raise TypeError("complex numbers")
        cells = np.array(sharing, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(
            f"the sharing matrix holds other values than numbers: {error!s:.120}"
        ) from None
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1] or not cells.size:
        raise UsageError(
            f"the sharing matrix has the shape {cells.shape}; expected one row and one column per "
            "thread"
        )
    np.fill_diagonal(cells, 0)
    if not np.isfinite(cells).all() or (cells < 0).any() or (cells != cells.T).any():
        raise UsageError(
            "the sharing matrix has invalid amounts; expected finite amounts from 0, equal for i, "
            "j and j, i"
        )
    return SharingMatrix(tuple(map(tuple, cells.tolist())))
