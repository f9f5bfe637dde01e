"""Sharing between the threads of a captured program."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.arguments import count_of
from autofinity.api.hints import as_hint
from autofinity.api.machines import Machine, name_of
from autofinity.api.traces import Trace, folder_of
from autofinity.model.affinity import Hint

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from autofinity.workflow.detect import Detected


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """Amount that each thread shares with each other. Notebooks show a heat map; `map_threads`
    takes it as it is.

    * `name`: program, machine and detector.
    * `inside`: internal type, which may change.

    >>> (trace,) = af.capture_traces("prodcons", "traces", threads=2, size="tiny")
    >>> shared = af.detect_sharing(trace, "opteron-6164he")
    >>> bool(shared.matrix[0, 1] == shared.matrix[1, 0] > 0)
    True
    """

    name: str
    inside: Detected = field(repr=False)

    @property
    def matrix(self) -> npt.NDArray[np.float64]:
        """Amounts, [threads, threads], symmetric, 0 on the diagonal: accesses, or what else the
        detector counts.
        """
        import numpy as np

        return np.array(self.inside.found.sharing.cells, np.float64)

    @property
    def agreement(self) -> float:
        """Correlation with the sharing by all accesses of the trace: 1 is the same pattern; NaN
        where one of them is the same for all pairs.
        """
        from autofinity.detect.agreement import correlation

        return correlation(self.inside.found.sharing, self.inside.whole.sharing)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[np.float64]:
        del copy  # the matrix is always a new one
        return self.matrix if dtype is None else self.matrix.astype(dtype)

    def __str__(self) -> str:
        from autofinity.report.heat_map import heat_lines

        return "\n".join((self.name, *heat_lines(self.inside.found.sharing)))

    def _repr_html_(self) -> str:
        from autofinity.report.heat_map import heat_svg

        return heat_svg(self.inside.found.sharing, self.name)


def detect_sharing(
    trace: Trace | Path | str,
    machine: Machine | str,
    *,
    detector: str = "trace",
    threads: int | None = None,
    hint: Hint | str = "spread",
    seed: int = 0,
) -> Sharing:
    """The sharing between threads that a published detector sees while the trace is replayed
    (`faults`, `sub-blocks`, `tlb`, `sammu`, `lapt`, `remote`); by default `trace`: all accesses of
    the trace to each cache line, by the thread of the pair that accesses the line less.

    `threads` is the number of placed threads, by default as many as the program had, placed by the
    hint; `seed` is the random seed of page colours. Raises `AutofinityError` for an unknown
    detector, and for a missing trace or machine.

    >>> (trace,) = af.capture_traces("prodcons", "traces", threads=2, size="tiny")
    >>> af.detect_sharing(trace, "opteron-6164he", detector="tlb").matrix.shape
    (2, 2)
    """
    from autofinity.workflow.backends import simulated
    from autofinity.workflow.detect import detect

    name, folder = name_of(machine), folder_of(trace)
    found = detect(
        simulated(name),
        folder,
        detector,
        threads=None if threads is None else count_of(threads, "threads"),
        hint=as_hint(hint),
        seed=seed,
    )
    return Sharing(f"{folder.name} on {name}, with {detector}", found)
