"""Behaviours that the programs of a suite show, and programs that add none.

Moore & Childers, section 3.5 and figure 10: a behaviour is a discretised sample; a program exhibits
the behaviours of all its samples in all affinities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from autofinity.learning.discretise import bin_of
from autofinity.learning.leeway_hints import HintsOf
from autofinity.learning.pipeline import chosen_features, cut
from autofinity.learning.prepared import prepare
from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable


@dataclass(frozen=True, slots=True)
class ProgramCoverage:
    """The behaviours of one program, in the order of the figure."""

    program: str
    behaviours: int
    """Number of distinct behaviours that the program shows: |B_p|."""
    cumulative: int
    """Number of distinct behaviours of the program and all programs before it."""
    new: int
    """Number of its behaviours that no program before it shows."""
    own: int
    """Number of its behaviours that no other program shows: the suite's loss without it."""


def coverage(table: ObservationTable, cuts: Mapping[str, Sequence[float]]) -> list[ProgramCoverage]:
    """Programs by the number of behaviours they show, fewest first, as in the figure.

    `cuts` are inner bin edges of counters of `table`; samples that lack one of these counters do
    not count.
    """
    bins = np.column_stack([bin_of(table.counters[name], tuple(at)) for name, at in cuts.items()])
    known = (bins >= 0).all(axis=1)
    _, behaviour = np.unique(bins[known], axis=0, return_inverse=True)
    behaviour = behaviour.ravel()
    codes = table.program.codes[known]
    shown = {
        table.program.names[code]: frozenset(behaviour[codes == code].tolist())
        for code in np.unique(codes)
    }
    found: list[ProgramCoverage] = []
    seen: set[int] = set()
    for program in sorted(shown, key=lambda name: (len(shown[name]), name)):
        mine = shown[program]
        others = frozenset().union(*(shown[other] for other in shown if other != program))
        new = len(mine - seen)
        seen |= mine
        found.append(ProgramCoverage(program, len(mine), len(seen), new, len(mine - others)))
    return found


def covered_by(
    table: ObservationTable, settings: LearningSettings, hints_of: HintsOf
) -> tuple[tuple[str, ...], list[ProgramCoverage]]:
    """The counters (or ratios) that learning chooses with these settings, and the coverage by them.

    Samples are all periods of all programs, including those that learning would leave out. Raises
    `LearningError` when nothing varies, or nothing is chosen.
    """
    everything = replace(settings, labels="periods")
    by_correlation = settings.selection != "regret"
    chosen_by = everything if by_correlation else settings
    known = prepare(table, chosen_by, hints_of, everything=by_correlation)
    counters, _ = chosen_features(known)
    if not counters:
        raise LearningError(
            "behaviours cannot be distinguished: no counter or ratio lowers the loss by the "
            "chosen hints; choose by correlation (--paper, --selection cfs) or name counters "
            "(--counters)"
        )
    ready = prepare(table, replace(everything, counters=counters), hints_of, everything=True)
    return counters, coverage(ready.behaviours, cut(ready, counters))
