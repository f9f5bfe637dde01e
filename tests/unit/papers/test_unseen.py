"""Programs judged by policies that were learned without them, for figures 11 and 12."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from few_observations import FEW, FEW_ON

from autofinity.papers.cc13.unseen import judged
from autofinity.papers.observed import THREADS, Observed
from autofinity.reporter import Progress
from autofinity.sim.preset import load_preset
from autofinity.store.observation_table import ObservationTable
from autofinity.workflow.observations import observations_of


class _Counted:
    """Counts the pieces that are announced and done."""

    def __init__(self) -> None:
        self.total = self.done = 0

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Progress]:
        assert title == "judge"
        self.total += total
        yield self

    def step(self, label: str = "") -> None:
        del label
        self.done += 1

    def found(self) -> None:
        self.done += 1

    def notice(self, message: str) -> None:
        raise AssertionError(message)


def rows(threads: int | None) -> ObservationTable:
    table = observations_of(FEW_ON).placed_by("affinity")
    some = np.isin(table.program.text(), FEW)
    return table.take(some if threads is None else some & (table.threads == threads))


def test_progress_counts_each_input_of_a_program() -> None:
    counted = _Counted()
    table = rows(THREADS)
    asked = Observed(FEW_ON, lambda: load_preset(FEW_ON).topology, rows, reporter=counted)
    cases = judged(asked, THREADS)
    assert counted.total == counted.done == len(np.unique(table.workload()))
    assert {case.workload.program for case in cases} == set(FEW)
    assert counted.total > len(table.programs())
