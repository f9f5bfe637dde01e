"""The vectorised action table against figure 6 written out line by line."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import observation

from autofinity.learning import action_table
from autofinity.learning.action_frame import best_of, bins_of, consequences_of, cut_points_of
from autofinity.learning.action_table import build_action_table
from autofinity.learning.elsewhere import MatchingPeriods
from autofinity.learning.settings import CONDENSE, Condense
from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.counters import Behaviour
from autofinity.model.observation import Observation
from autofinity.store.observations import table_of

CUTS = {"x": (1.0, 2.0), "y": (0.5,)}
AFFINITIES = [Affinity.parse(t) for t in ("{2}", "{1,1}", "{1}{1}", "{3}", "{2,1}", "{2}{1}")]

PLAIN: dict[str, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "gmean": statistics.geometric_mean,
    "hmean": statistics.harmonic_mean,
    "max": max,
    "min": min,
    "sum": math.fsum,
}


@st.composite
def campaigns(draw: st.DrawFn) -> list[Observation]:
    rows = []
    for program in ("a", "b"):
        for affinity in draw(st.sets(st.sampled_from(AFFINITIES), min_size=1)):
            for seed in draw(st.sets(st.integers(1, 2), min_size=1)):
                count = draw(st.integers(1, 4))
                steps = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
                for sample in range(count):
                    rows.append(
                        observation(
                            program=program,
                            threads=affinity.threads,
                            affinity=affinity,
                            sample=sample,
                            progress=sum(steps[: sample + 1]) / 12,
                            behaviour=Behaviour(
                                {
                                    "x": draw(st.sampled_from([0.0, 1.0, 1.5, 2.5, math.nan])),
                                    "y": draw(st.sampled_from([0.0, 0.5, 0.75])),
                                }
                            ),
                            performance=float(draw(st.integers(1, 6))),
                            seed=seed,
                        )
                    )
    return rows


def bin_of(value: float, cuts: Sequence[float]) -> int:
    return -1 if math.isnan(value) else sum(value > cut for cut in cuts)


def matching_period(
    row: Observation, run: list[Observation], by_progress: bool
) -> Observation | None:
    if not by_progress:
        return next((other for other in run if other.sample == row.sample), None)
    return min(
        run, key=lambda o: (abs(o.progress - row.progress), o.progress, o.sample), default=None
    )


def figure_6(
    rows: list[Observation],
    condense: Callable[[Sequence[float]], float],
    hints_of: dict[Affinity, tuple[Hint, ...]],
    literal: bool,
    by_progress: bool,
) -> dict[tuple[tuple[int, ...], Affinity], tuple[list[float], int, int]]:
    """(behaviour, affinity) → consequences by hint, label, observations behind it."""
    possibilities: dict[tuple[tuple[int, ...], Affinity], dict[Affinity, list[float]]] = {}
    weight: dict[tuple[tuple[int, ...], Affinity], int] = defaultdict(int)
    runs: dict[tuple[object, ...], list[Observation]] = defaultdict(list)
    for row in rows:
        runs[row.program, row.input, row.threads, row.seed, row.affinity].append(row)
    for row in rows:
        behaviour = tuple(bin_of(row.behaviour[name], CUTS[name]) for name in ("x", "y"))
        if -1 in behaviour:
            continue
        weight[behaviour, row.affinity] += 1
        table = possibilities.setdefault((behaviour, row.affinity), defaultdict(list))
        for destination in AFFINITIES:
            key = (row.program, row.input, row.threads, row.seed, destination)
            there = matching_period(row, runs[key], by_progress) if key in runs else None
            if there is not None:
                table[destination].append(there.performance)
    result = {}
    for entry, table in possibilities.items():
        by_hint: dict[Hint, list[float]] = defaultdict(list)
        consequence = {}
        for destination in sorted(table):
            for hint in hints_of[destination]:
                by_hint[hint] += table[destination]
                consequence[hint] = condense(table[destination])
        if not literal:
            consequence = {hint: condense(values) for hint, values in by_hint.items()}
        if consequence:
            values = [consequence.get(hint, math.nan) for hint in HINTS]
            best = max(v for v in values if not math.isnan(v))
            result[entry] = (values, values.index(best), weight[entry])
    return result


@settings(max_examples=150)
@given(
    campaigns(),
    st.sampled_from(CONDENSE),
    st.fixed_dictionaries(
        {a: st.sets(st.sampled_from(HINTS), max_size=3).map(tuple) for a in AFFINITIES}
    ),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 7, 16_000_000]),
)
def test_the_action_table_is_figure_6(
    rows: list[Observation],
    condense: Condense,
    hints_of: dict[Affinity, tuple[Hint, ...]],
    literal: bool,
    by_progress: bool,
    pairs_at_once: int,
) -> None:
    observations = table_of([replace(o, backend="sim" if by_progress else "linux") for o in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(action_table, "PAIRS_AT_ONCE", pairs_at_once)
        table = build_action_table(
            observations,
            MatchingPeriods(observations, observations.performance, hints_of.__getitem__),
            ("x", "y"),
            CUTS,
            condense,
            literal=literal,
        )
    expected = figure_6(
        list(observations.observations()), PLAIN[condense], hints_of, literal, by_progress
    )
    assert cut_points_of(table) == CUTS
    behaviours = map(tuple, bins_of(table).tolist())
    rows_of = {
        (bins, Affinity.parse(name)): row
        for row, (bins, name) in enumerate(zip(behaviours, table["affinity"], strict=True))
    }
    assert rows_of.keys() == expected.keys()
    for entry, (consequences, best, weight) in expected.items():
        row = rows_of[entry]
        np.testing.assert_allclose(consequences_of(table)[row], consequences, rtol=1e-12)
        assert table["weight"][row] == weight
        # Equal but for rounding: either label is right.
        assert consequences[best_of(table)[row]] == pytest.approx(consequences[best], rel=1e-12)
        if condense in ("median", "max", "min"):
            assert best_of(table)[row] == best


def test_the_first_hint_labels_a_tie() -> None:
    observations = table_of([observation(behaviour=Behaviour({"x": 0.0, "y": 0.0}))])
    periods = MatchingPeriods(observations, observations.performance, lambda affinity: HINTS[::-1])
    table = build_action_table(observations, periods, ("x", "y"), CUTS)
    assert table["best"].tolist() == [str(HINTS[0])]
