"""The action table: the best hint for each behaviour in each affinity (paper, figure 6).

    sample (behaviour b, affinity a, period p)
        └─ for every other affinity d of the same program and period: performance there
              └─ d belongs to hints (leeway) ─► possibilities[b][a][hint] ─► condense ─► best hint

Every policy is learned from such a table, with any learner. `learning.elsewhere` provides the
comparison: matching sample periods, as in the figure, or whole runs.

Interpretations where the figure leaves something open:

* Line 18 as printed overwrites when several destinations share a hint. Here all performances of all
  destinations of a hint are condensed together; `literal` condenses each destination by itself and
  keeps the last, in the order of the affinities.
* A destination that belongs to no hint is skipped (line 13), and so is one where the program has no
  matching period.
* Equal consequences: the label is the first hint in the order of `HINTS`.
* A behaviour without any known consequence gives no row. A row's weight is that of the samples
  behind it: their number, or, where runs are compared, the number of programs.

One affinity a is processed at a time, so memory stays far below the number of pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.learning.action_frame import action_frame
from autofinity.learning.condense import condense_groups
from autofinity.learning.discretise import bin_of
from autofinity.learning.elsewhere import Elsewhere
from autofinity.learning.settings import Condense
from autofinity.model.affinity import HINTS, Affinity
from autofinity.model.errors import LearningError, UnknownCounterError
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]

PAIRS_AT_ONCE = 16_000_000


def build_action_table(
    samples: ObservationTable,
    elsewhere: Elsewhere,
    counters: Sequence[str],
    cut_points: Mapping[str, tuple[float, ...]],
    condense: Condense = "median",
    *,
    literal: bool = False,
    weights: Floats | None = None,
) -> pd.DataFrame:
    """Figure 6 over all `samples`, with consequences from `elsewhere`.

    Rows come sorted by affinity, then behaviour; their columns are those of `action_frame`.

    Samples that lack one of the `counters` make no row. A row's weight is the sum over its samples
    (`weights`, by default 1 each); samples of different weight make separate rows. Raises
    `LearningError` for a counter that the samples lack.
    """
    behaviours = _behaviours(samples, counters, cut_points)
    weights = np.ones(len(samples)) if weights is None else weights
    by_weight = np.unique(weights, return_inverse=True)[1].reshape(-1, 1)
    by_rank, ranks = np.unique(elsewhere.performance, return_inverse=True)
    usable = np.isfinite(elsewhere.performance)
    possible = _Possibilities(elsewhere, by_rank, ranks.astype(np.int64), usable, condense, literal)
    affinities = sorted(
        (Affinity.parse(samples.affinity.names[code]), int(code))
        for code in np.unique(samples.affinity.codes)
    )
    parts: list[tuple[Ints, Ints, Floats, Floats]] = [_no_rows(len(counters))]
    complete = (behaviours >= 0).all(axis=1)
    for index, (affinity, code) in enumerate(affinities):
        rows = np.flatnonzero((samples.affinity.codes == code) & complete)
        destinations = elsewhere.destinations(affinity)
        if len(rows) == 0 or not destinations:
            continue
        keys = np.column_stack([behaviours[rows], by_weight[rows]])
        distinct, group = np.unique(keys, axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        counts = np.bincount(group.ravel(), minlength=len(distinct))
        consequences = possible.consequences(rows[order], counts, destinations)
        weight = np.bincount(group.ravel(), weights[rows], len(distinct))
        parts.append((distinct[:, :-1], np.full(len(distinct), index), consequences, weight))
    bins, affinity_of, consequences, weight = map(np.concatenate, zip(*parts, strict=True))
    known = ~np.isnan(consequences).all(axis=1)
    consequences = consequences[known]
    return action_frame(
        {name: tuple(cut_points[name]) for name in counters},
        bins[known],
        [affinity for affinity, _ in affinities],
        affinity_of[known],
        consequences,
        np.argmax(np.where(np.isnan(consequences), -np.inf, consequences), axis=1),
        weight[known],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Possibilities:
    """Lines 5-18: performances in all destinations, condensed for each behaviour and hint."""

    elsewhere: Elsewhere
    by_rank: Floats
    ranks: Ints
    usable: npt.NDArray[np.bool_]
    condense: Condense
    literal: bool

    def consequences(
        self, rows: Ints, counts: Ints, destinations: Sequence[tuple[int, Sequence[int]]]
    ) -> Floats:
        """Consequences: behaviours × 8. `rows` come behaviour by behaviour, `counts[i]` rows of the
        i-th.
        """
        result = np.full((len(counts), len(HINTS)), np.nan)
        ends = np.cumsum(counts)
        done = 0
        while done < len(counts):
            start = int(ends[done - 1]) if done else 0
            room = start + max(PAIRS_AT_ONCE // len(destinations), 1)
            upto = max(int(np.searchsorted(ends, room, side="right")), done + 1)
            result[done:upto] = self._chunk(
                rows[start : ends[upto - 1]], counts[done:upto], destinations
            )
            done = upto
        return result

    def _chunk(
        self, rows: Ints, counts: Ints, destinations: Sequence[tuple[int, Sequence[int]]]
    ) -> Floats:
        result = np.full((len(counts), len(HINTS)), np.nan)
        # The look-up is in the table's own order, which is the index's: fewer cache misses.
        order = np.argsort(rows)
        seen = np.empty((len(rows), len(destinations)), dtype=np.int64)
        for column, (code, _) in enumerate(destinations):
            found = self.elsewhere.find(rows[order], code)
            found[(found >= 0) & ~self.usable[found]] = -1
            seen[order, column] = found
        columns_of = {
            hint: tuple(c for c, (_, hints) in enumerate(destinations) if hint in hints)
            for hint in range(len(HINTS))
        }
        if self.literal:
            for column, (_, hints) in enumerate(destinations):
                last = self._condensed(seen[:, [column]], counts)
                known = ~np.isnan(last)
                for hint in hints:
                    result[known, hint] = last[known]
            return result
        # Hints that share all their destinations are condensed once.
        for columns in {c for c in columns_of.values() if c}:
            condensed = self._condensed(seen[:, list(columns)], counts)
            for hint, own in columns_of.items():
                if own == columns:
                    result[:, hint] = condensed
        return result

    def _condensed(self, seen: Ints, counts: Ints) -> Floats:
        """One value for each behaviour over the rows × columns of `seen`; NaN where nothing was
        seen.
        """
        valid = seen >= 0
        first_rows = np.cumsum(counts) - counts
        sizes = np.add.reduceat(valid.sum(axis=1), first_rows)
        some = sizes > 0
        starts = np.cumsum(sizes[some]) - sizes[some]
        result = np.full(len(counts), np.nan)
        result[some] = condense_groups(
            self.condense, self.by_rank, self.ranks[seen[valid]], starts.astype(np.int64)
        )
        return result


def _behaviours(
    table: ObservationTable, counters: Sequence[str], cut_points: Mapping[str, tuple[float, ...]]
) -> Ints:
    """Rows × counters: bin indices, −1 where a counter was not measured."""
    columns = []
    for name in counters:
        if name not in table.counters or name not in cut_points:
            raise UnknownCounterError(
                f"the counter {name!r} is not in these observations; they have "
                f"{', '.join(table.counters) or 'none'}"
            )
        columns.append(bin_of(table.counters[name], cut_points[name]))
    if not columns:
        raise LearningError("no counters were given, expected at least one")
    return np.column_stack(columns)


def _no_rows(counters: int) -> tuple[Ints, Ints, Floats, Floats]:
    none = np.empty(0, dtype=np.int64)
    return none.reshape(0, counters), none, np.empty((0, len(HINTS))), np.empty(0)
