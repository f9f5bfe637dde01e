"""Samples that users give: of one run, or of many runs as a table."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from autofinity.model.counters import check_count
from autofinity.model.errors import SampleError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

type Sample = Mapping[str, float] | pd.Series[Any]
"""Counts per thread and second, by counter."""

OF_OBSERVATIONS = "counter:"
"""Beginning of the names of counters in tables of `observations`."""


def is_table(given: object) -> bool:
    """Whether samples of many runs are given."""
    if isinstance(given, Mapping):
        return False
    import pandas as pd

    return isinstance(given, pd.DataFrame)


def sample_of(given: Sample, name: str, counters: Collection[str]) -> dict[str, float]:
    """Values of `counters`, as far as they are there, by name. Other names stay, with NaN: nobody
    needs their values; those of a row of `observations` do not. `name` is that of the argument.
    Raises `UsageError`, also for a mapping with a name that is no counter's.
    """
    named = _items(given, name)
    if isinstance(given, Mapping):
        _check_known(named, name, counters)
    if named and not any(key.removeprefix(OF_OBSERVATIONS) in counters for key in named):
        _refuse_without(name, counters)
    own = {counter: OF_OBSERVATIONS + counter for counter in counters}
    if any(key.startswith(OF_OBSERVATIONS) for key in named):
        named = {
            counter: named[key if key in named else counter]
            for counter, key in own.items()
            if key in named or counter in named
        }
    return {
        key: _number(value, key, name) if key in counters else float("nan")
        for key, value in named.items()
    }


def columns_of(
    frame: pd.DataFrame, name: str, counters: Collection[str]
) -> dict[str, npt.NDArray[np.float64]]:
    """Columns of `counters`, as far as they are there. Raises `UsageError`, also where none is."""
    import numpy as np

    from autofinity.foreign_frame import check_names, numbers

    check_names(frame, UsageError, f"the table {name}")
    columns = {}
    for counter in counters:
        for column in (OF_OBSERVATIONS + counter, counter):
            if column in frame.columns:
                values = numbers(frame[column], column, UsageError)
                wrong = values[(values < 0) | np.isinf(values)]
                check_count(f"the table {name}", counter, min(wrong, default=0.0))
                columns[counter] = values
                break
    if not columns:
        _refuse_without(f"the table {name}", counters)
    return columns


def refuse_left_out(name: str, given: Iterable[object], lacking: Collection[str]) -> None:
    """Raise `SampleError` where counters are left out (`lacking`) that are needed to decide."""
    if not lacking:
        return
    names = [key.removeprefix(OF_OBSERVATIONS) for key in given if isinstance(key, str)]
    near = [_near(counter, set(names) - set(lacking)) for counter in lacking]
    raise SampleError(
        f"cannot decide: {name} lacks {', '.join(lacking)}, which the policy's rules ask for"
        f"{next(filter(None, near), '')}; expected counts per thread and second, or NaN where "
        "a counter was not measured: no condition on it holds"
    )


def _check_known(names: Collection[str], name: str, counters: Collection[str]) -> None:
    """Raise `SampleError` for a name that no policy knows; a row of `observations` has others."""
    from autofinity.sim.events import EVENTS

    if any(key.startswith(OF_OBSERVATIONS) for key in names):
        return
    known = {*counters, *EVENTS}
    for key in names:
        if key not in known:
            raise SampleError(
                f"{name}: no counter {key!r} is known{_near(key, known)}; expected counts of "
                f"{', '.join(counters) or 'nothing: the policy looks at no counter'}"
            )


def _near(name: str, others: Collection[str]) -> str:
    near = difflib.get_close_matches(name, sorted(others), 3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def _refuse_without(name: str, counters: Collection[str]) -> None:
    """Raise `UsageError` for samples that have none of `counters`, where there are some."""
    if counters:
        raise UsageError(
            f"{name} has none of the counters that the policy asks for; expected counts of "
            f"{', '.join(counters)}, per thread and second"
        )


def _items(given: object, name: str) -> dict[str, Any]:
    if isinstance(given, Mapping):
        items = dict(given)
    else:
        import pandas as pd

        if not isinstance(given, pd.Series):
            raise UsageError(
                f"{name} is a {type(given).__name__}; expected counts per thread and second by "
                "counter of one run: a mapping, or a row of a table (table.iloc[number]); decide "
                "takes tables, too"
            )
        if given.index.nlevels > 1 or not given.index.is_unique:
            raise UsageError(
                f"{name} has names of several levels, or one name several times; expected each "
                "counter once"
            )
        items = given.to_dict()
    odd = next((key for key in items if not isinstance(key, str)), None)
    if odd is not None:
        raise UsageError(f"{name} has the name {odd!r}; expected names of counters")
    return items


def _number(value: Any, counter: str, name: str) -> float:
    """The value; NaN for None and pandas' NA, as in a column of a table."""
    if value is None:
        return float("nan")
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        import pandas as pd

        if value is pd.NA:
            return float("nan")
        raise UsageError(
            f"{name} has {value!r:.60} for {counter}; expected a number, or NaN or None where the "
            "counter was not measured"
        ) from None
    check_count(name, counter, number)
    return number
