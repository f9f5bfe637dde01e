"""Requirements for the columns of an observation file: their kinds, and their possible values.

A seal shows that a file is unchanged, not who wrote it: other programs write Parquet, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pyarrow as pa
import pyarrow.compute as pc

from autofinity.model.affinity import Affinity
from autofinity.model.observation import PlacedBy
from autofinity.store.observation_table import (
    COLUMNS,
    COUNTER_PREFIX,
    ENERGY_COLUMN,
    NUMBER_COLUMNS,
    PLACEMENT_COLUMN,
    TEXT_COLUMNS,
    WHOLE_COLUMNS,
)

_MOST_THREADS = 1 << 20
_MAY_BE_MISSING = (ENERGY_COLUMN, "progress")
"""Columns that may be missing: a live run has none of them. Not all counters are measured in every
run either."""
_LEAST = {"threads": 1, "roi_s": 1e-12}
_MOST = {"progress": 1.0, "threads": _MOST_THREADS}
_REQUIRED = (*TEXT_COLUMNS, *WHOLE_COLUMNS, *NUMBER_COLUMNS)


def checked_columns(table: pa.Table) -> pa.Table:
    """The table with texts, int64 and float64 in its columns, and a placement.

    Counters, energy and progress may be missing in a row. Raises `ValueError` for values that no
    observation can have.
    """
    names = table.column_names
    for name in _REQUIRED:
        if name not in names:
            raise ValueError(f"it lacks the column {name!r}")
    columns = {}
    for name, column in zip(names, table.columns, strict=True):
        if name in columns:
            raise ValueError(f"the column {name!r} comes twice")
        columns[name] = _reader_of(name)(name, column)
    if PLACEMENT_COLUMN not in columns:
        placed = pa.array(["affinity"] * table.num_rows, pa.string())
        columns[PLACEMENT_COLUMN] = placed
    _check_names(PLACEMENT_COLUMN, columns[PLACEMENT_COLUMN], _a_placement)
    _check_names("affinity", columns["affinity"], Affinity.parse)
    return pa.table(columns)


def _reader_of(name: str) -> Callable[[str, pa.ChunkedArray], pa.ChunkedArray]:
    if name.startswith(COUNTER_PREFIX) or name in _MAY_BE_MISSING:
        return _numbers_or_nothing
    if name not in COLUMNS:
        raise ValueError(
            f"it has an unknown column {name!r}, expected {', '.join(COLUMNS)} and counters as "
            f"{COUNTER_PREFIX}NAME"
        )
    if name in WHOLE_COLUMNS:
        return _wholes
    return _numbers if name in NUMBER_COLUMNS else _texts


def _texts(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise _wrong_kind(name, column, "texts")
    return _complete(name, column).cast(pa.string())


def _wholes(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_integer(column.type):
        raise _wrong_kind(name, column, "whole numbers")
    whole = _complete(name, column).cast(pa.int64())
    _check_range(name, whole)
    return whole


def _numbers(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    numbers = _complete(name, _floats(name, column))
    if pc.any(pc.is_nan(numbers)).as_py():
        raise ValueError(f"the column {name!r} has NaN, expected a number in every row")
    _check_range(name, numbers)
    return numbers


def _numbers_or_nothing(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    numbers = _floats(name, column)
    _check_range(name, pc.drop_null(pc.if_else(pc.is_nan(numbers), None, numbers)))
    return numbers


def _floats(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        raise _wrong_kind(name, column, "numbers")
    return column.cast(pa.float64(), safe=False)


def _complete(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.null_count:
        raise ValueError(f"the column {name!r} lacks values, expected one in every row")
    return column


def _check_range(name: str, numbers: pa.ChunkedArray) -> None:
    """Check that numbers are finite and not negative."""
    ends = pc.min_max(numbers).as_py()
    if ends["min"] is None:  # no rows
        return
    least, most = _LEAST.get(name, 0), _MOST.get(name)
    for value in ends.values():
        if not least <= value < float("inf") or (most is not None and value > most):
            upto = "or more" if most is None else f"to {most:g}"
            raise ValueError(f"the column {name!r} has {value:g}, expected {least:g} {upto}")


def _check_names(name: str, column: pa.ChunkedArray, check: Callable[[str], object]) -> None:
    for text in pc.unique(column).to_pylist():
        try:
            check(text)
        except ValueError as error:
            raise ValueError(f"the column {name!r}: {error}") from None


def _a_placement(text: str) -> None:
    known = get_args(PlacedBy.__value__)
    if text not in known:
        raise ValueError(f"got {text!r}, expected one of {', '.join(known)}")


def _wrong_kind(name: str, column: pa.ChunkedArray, expected: str) -> ValueError:
    return ValueError(f"the column {name!r} holds {column.type}, expected {expected}")
