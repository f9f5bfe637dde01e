"""Performance of a program in other affinities: the source of the consequences of figure 6.

Figure 6 compares sample periods: the performance in the same period in every other affinity. A
placement that stays for the whole run is worth the performance of the whole run; all samples of a
program then have the same consequences. The action table is made with either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from autofinity.learning.leeway_hints import HintsOf
from autofinity.learning.periods import Periods
from autofinity.model.affinity import HINTS, Affinity
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]


class Elsewhere(Protocol):
    """Performances, and those that samples could have had."""

    performance: Floats
    """Values, larger is better; a value that is not finite is unknown."""

    def destinations(self, affinity: Affinity) -> Sequence[tuple[int, Sequence[int]]]:
        """Numbers of the destinations from `affinity`, and the hints (into `HINTS`) of each.

        No destination is without a hint (figure 6, line 13).
        """
        ...

    def find(self, rows: Ints, destination: int) -> Ints:
        """Place in `performance` for samples, by their rows; −1 where there is none."""
        ...


class MatchingPeriods:
    """The same period of the same run in other affinities, as in figure 6.

    Samples are the rows of `table`, and `performance` has one value for each row.
    """

    def __init__(self, table: ObservationTable, performance: Floats, hints_of: HintsOf) -> None:
        self.performance = performance
        periods = Periods(table)
        self.find = periods.find
        # The order of affinities as values, not of their texts, decides which destination is last.
        affinities = sorted(
            (Affinity.parse(table.affinity.names[code]), int(code))
            for code in np.unique(table.affinity.codes)
        )
        belongs = [
            (affinity.threads, code, [HINTS.index(hint) for hint in hints_of(affinity)])
            for affinity, code in affinities
        ]
        self._destinations = [each for each in belongs if each[2]]

    def destinations(self, affinity: Affinity) -> Sequence[tuple[int, Sequence[int]]]:
        """Affinities of the same number of threads, with their hints."""
        return [
            (code, hints)
            for threads, code, hints in self._destinations
            if threads == affinity.threads
        ]


class WholeRuns:
    """Whole runs under each hint, the same for all samples of a workload.

    `losses` (workloads × 8) are those of `hint_losses`; `workload` is each sample's row in
    `losses`.
    """

    def __init__(self, workload: Ints, losses: Floats) -> None:
        self.performance = np.exp(-losses).ravel()
        self._workload = workload

    def destinations(self, affinity: Affinity) -> Sequence[tuple[int, Sequence[int]]]:
        """The hints themselves: leeway and condensing within a program are already done."""
        return [(hint, (hint,)) for hint in range(len(HINTS))]

    def find(self, rows: Ints, destination: int) -> Ints:
        """Place of the workload of each row."""
        found: Ints = self._workload[rows] * len(HINTS) + destination
        return found
