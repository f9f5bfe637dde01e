"""Times of the region of interest by subject and affinity: what policies are judged by.

A thin index over observations; nothing is learned here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autofinity.model.affinity import Affinity
from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable


@dataclass(frozen=True, slots=True)
class Subject:
    """A program with an input and a thread count."""

    program: str
    input: str
    threads: int


@dataclass(frozen=True, slots=True)
class Times:
    """`roi_s[subject][affinity]`: geometric mean over seeds, seconds."""

    roi_s: Mapping[Subject, Mapping[Affinity, float]]

    def of(self, subject: Subject, affinity: Affinity) -> float:
        """Time of one affinity. Raises `LearningError` when it was not profiled."""
        found = self.roi_s[subject].get(affinity)
        if found is None:
            raise LearningError(
                f"{subject.program} with {subject.threads} threads was not profiled in affinity "
                f"{affinity}; profile it (autofinity profile --affinities hints covers all hints)"
            )
        return found

    def oracle(self, subject: Subject) -> tuple[Affinity, float]:
        """Best affinity of all that were profiled, and its time (`oracle-affinity`)."""
        return min(self.roi_s[subject].items(), key=lambda item: (item[1], item[0]))


def times_of(table: ObservationTable) -> Times:
    """Index the times; each run counts once, however many samples it has."""
    runs: dict[Subject, dict[Affinity, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    placed = table.placed_by("affinity")
    for seen in placed.take(placed.sample == 0).observations():
        subject = Subject(seen.program, seen.input, seen.threads)
        runs[subject][seen.affinity][seen.seed] = seen.roi_s
    return Times(
        {
            subject: {
                affinity: geometric_mean(by_seed.values())
                for affinity, by_seed in affinities.items()
            }
            for subject, affinities in runs.items()
        }
    )


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean; NaN of nothing."""
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) if logs else float("nan")
