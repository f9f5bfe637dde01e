"""Tables of pandas that users made: columns of known names and kinds as arrays of numpy.

Each function raises the error of its caller, with the column, its content, and what was expected.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from autofinity.model.errors import AutofinityError

if TYPE_CHECKING:
    import pandas as pd

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
type Raise = type[AutofinityError]

_SHOWN = 60


def check_names(frame: pd.DataFrame, error: Raise, named: str = "the table") -> None:
    """Raise `error` unless the columns have one level of names, all of them text, each once."""
    if frame.columns.nlevels > 1:
        raise error(
            f"{named} has columns of {frame.columns.nlevels} levels, expected one level of names; "
            "take one level (table.droplevel) or join them"
        )
    odd = next((name for name in frame.columns if not isinstance(name, str)), None)
    if odd is not None:
        raise error(
            f"{named} has a column named {shown(odd)}, expected names of text; "
            "is a heading missing, or is it transposed?"
        )
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise error(
            f"{named} has the column {shown(twice)} more than once, expected it once; "
            "drop or rename one"
        )


def numbers(column: pd.Series[Any], name: str, error: Raise) -> Floats:
    """The column as float64, NaN where a value is missing; raises `error` for anything else."""
    import pandas as pd

    kind = column.dtype
    plain = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind)
    if not plain and not (pd.api.types.is_object_dtype(kind) and all(map(_is_number, column))):
        raise error(
            f"the column {shown(name)} has {_held(column)}, expected numbers; "
            "convert it (pandas.to_numeric)"
        )
    try:
        values: Floats = column.to_numpy(np.float64, na_value=np.nan)
    except OverflowError:
        raise error(
            f"the column {shown(name)} has a whole number beyond float64, expected numbers"
        ) from None
    return values


def whole_numbers(column: pd.Series[Any], name: str, error: Raise) -> Ints:
    """The column as int64; raises `error` where a value is missing or no whole number."""
    import pandas as pd

    if pd.api.types.is_integer_dtype(column.dtype) and not column.hasnans:
        values: Ints = column.to_numpy(np.int64)
        return values
    values_f = numbers(column, name, error)
    bad = ~(np.abs(values_f) < 2.0**53) | (values_f != np.floor(values_f))
    if bad.any():
        raise error(
            f"the column {shown(name)} has {shown(float(values_f[bad][0]))}, expected a whole "
            "number in every row; leave such rows out"
        )
    return values_f.astype(np.int64)


def texts(column: pd.Series[Any], name: str, error: Raise) -> pd.Series[Any]:
    """The column as a category of text; raises `error` where a value is missing or no text."""
    import pandas as pd

    if column.hasnans:
        raise error(f"the column {shown(name)} lacks text, expected some in every row")
    named = isinstance(column.dtype, pd.CategoricalDtype)
    seen = column.cat.categories if named else column
    for each in seen:
        if not isinstance(each, str):
            raise error(
                f"the column {shown(name)} has values such as {shown(each)}, expected text in "
                "every row"
            )
    return column if named else column.astype(str).astype("category")


def shown(value: Hashable) -> str:
    """A name or value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _held(column: pd.Series[Any]) -> str:
    """Content of a column: the first value that is no number, else its dtype."""
    odd = next((each for each in column if not _is_number(each)), None)
    return f"values such as {shown(odd)}" if odd is not None else f"values of {column.dtype}"


def _is_number(value: object) -> bool:
    import pandas as pd

    if isinstance(value, bool | np.bool_ | int | float | np.integer | np.floating):
        return True
    return value is None or value is pd.NA
