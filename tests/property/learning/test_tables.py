"""Observations and action tables as DataFrames and in files: what goes in comes out."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.learning import table_file
from autofinity.learning.action_frame import (
    action_frame,
    best_of,
    bins_of,
    consequences_of,
    cut_points_of,
)
from autofinity.model.affinity import HINTS, Affinity
from autofinity.model.errors import StoreError
from autofinity.store.observation_table import Coded, ObservationTable

AFFINITIES = tuple(Affinity.parse(text) for text in ("{2}", "{1,1}", "{1}{1}"))


@st.composite
def tables(draw: st.DrawFn) -> ObservationTable:
    """Sorted, with names that no row has, ±∞, −0 and NaN, and any text."""
    rows = draw(st.integers(0, 6))
    seed = np.random.default_rng(draw(st.integers(0, 2**32)))
    some = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1 / 3])

    def coded() -> Coded:
        names = tuple(sorted(draw(st.sets(st.text(max_size=3), min_size=1, max_size=4))))
        return Coded(seed.integers(0, len(names), rows).astype(np.int32), names)

    made = {}
    for field in dataclasses.fields(ObservationTable):
        if field.type == "Coded":
            made[field.name] = coded()
        elif field.type == "Ints":
            made[field.name] = seed.integers(-(2**62), 2**62, rows)
        else:
            made[field.name] = seed.choice(some, rows)
    names = sorted(draw(st.sets(st.text(max_size=3), max_size=3)))
    made["counters"] = {name: seed.choice(some, rows) for name in names}
    table = ObservationTable(**made)
    return ObservationTable.from_pandas(table.to_pandas())


def equal(one: ObservationTable, other: ObservationTable) -> bool:
    a, b = one.columns(), other.columns()
    return list(a) == list(b) and all(
        x.names == y.names and x.codes.tobytes() == y.codes.tobytes()
        if isinstance(x, Coded) and isinstance(y, Coded)
        else np.asarray(x).tobytes() == np.asarray(y).tobytes()
        for x, y in zip(a.values(), b.values(), strict=True)
    )


@given(tables(), st.randoms())
def test_an_observation_table_comes_back_from_a_frame_whatever_the_order_of_its_rows(
    table: ObservationTable, shuffle: st.random.Random
) -> None:
    frame = table.to_pandas()
    assert {str(kind) for kind in frame.dtypes} <= {"category", "int64", "float64"}
    assert equal(ObservationTable.from_pandas(frame), table)
    order = list(range(len(table)))
    shuffle.shuffle(order)
    again = ObservationTable.from_pandas(frame.iloc[order])
    assert again.digest() == table.digest()
    plain = frame.astype(dict.fromkeys(frame.select_dtypes("category"), object))
    assert ObservationTable.from_pandas(plain).digest() == table.digest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="seed"), "lacks the column 'seed'"),
        (lambda frame: frame.assign(cycles=1.0), "unknown column 'cycles'"),
        (lambda frame: frame.assign(program=None), "'program' lacks text"),
    ],
)
def test_a_frame_that_is_no_table_is_refused(change: object, message: str) -> None:
    text = dict.fromkeys(("program", "input", "affinity", "machine", "backend", "version"), "x")
    numbers = dict.fromkeys(("threads", "sample", "seed", "progress", "performance", "roi_s"), 1)
    frame = pd.DataFrame([text | numbers | {"affinity": "{1}"}])
    assert len(ObservationTable.from_pandas(frame)) == 1
    with pytest.raises(StoreError, match=message):
        ObservationTable.from_pandas(change(frame))  # type: ignore[operator]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables") / "table.parquet"


def action_table(
    draw: np.random.Generator, rows: int, cuts: list[tuple[float, ...]]
) -> pd.DataFrame:
    names = {f"c{i}": at for i, at in enumerate(cuts)}
    bins = [draw.integers(0, len(at) + 1, rows) for at in cuts]
    return action_frame(
        names,
        np.array(bins, np.int64).reshape(len(cuts), rows).T,
        AFFINITIES,
        draw.integers(0, 3, rows),
        draw.choice([np.nan, 1 / 3, -2.0], (rows, len(HINTS))),
        draw.integers(0, len(HINTS), rows),
        draw.random(rows),
    )


finite = st.floats(allow_nan=False, allow_infinity=False)
edges = st.lists(finite, unique=True, max_size=3).map(sorted).map(tuple)


@given(st.integers(0, 2**32), st.integers(0, 5), st.lists(edges, max_size=3))
def test_an_action_table_comes_back_from_its_file(
    path: Path, seed: int, rows: int, cuts: list[tuple[float, ...]]
) -> None:
    table = action_table(np.random.default_rng(seed), rows, cuts)
    assert list(cut_points_of(table).values()) == cuts
    table_file.save(table, {"machine": "box"}, path)
    again, provenance = table_file.load(path)
    assert provenance == {"machine": "box"}
    assert cut_points_of(again) == cut_points_of(table)
    for part in (bins_of, best_of, consequences_of):
        np.testing.assert_array_equal(part(again), part(table))
    for name in ("affinity", "weight"):
        assert again[name].tolist() == table[name].tolist()


@pytest.mark.parametrize(
    ("column", "wrong"), [("bin:c0", 3), ("affinity", "{0"), ("best", "XYZ"), ("weight", None)]
)
def test_an_action_table_with_what_there_is_not_is_refused(
    path: Path, column: str, wrong: object
) -> None:
    table = action_table(np.random.default_rng(1), 2, [(1.0, 2.0)])
    table_file.save(table, {}, path)
    arrow = pq.read_table(path)
    values = [*arrow.column(column).to_pylist()[:1], wrong]
    place = arrow.column_names.index(column)
    pq.write_table(arrow.set_column(place, column, pa.array(values)), path)
    with pytest.raises(StoreError, match="is no action table or is damaged"):
        table_file.load(path)
