"""Observations in tables that users made or changed: whether texts and numbers mean anything."""

from __future__ import annotations

from typing import get_args

import numpy as np

from autofinity.foreign_frame import shown
from autofinity.model.affinity import Affinity
from autofinity.model.errors import StoreError
from autofinity.model.observation import PlacedBy
from autofinity.store.observation_table import (
    COUNTER_PREFIX,
    PLACEMENT_COLUMN,
    Coded,
    Floats,
    ObservationTable,
)


def check_meanings(table: ObservationTable) -> None:
    """Raise `StoreError` for texts and numbers that mean nothing, so that learning can rely on the
    others.
    """
    if not len(table):
        raise StoreError("the table has no rows, expected observations; was it filtered too much?")
    known = get_args(PlacedBy.__value__)
    for name in _used(table.placement):
        if name not in known:
            raise StoreError(
                f"the column {PLACEMENT_COLUMN!r} has {shown(name)}, expected {', '.join(known)}"
            )
    for name in _used(table.affinity):
        try:
            Affinity.parse(name)
        except ValueError as error:
            raise StoreError(f"the column 'affinity': {error}") from None
    if table.threads.min() < 1:
        raise StoreError(f"the column 'threads' has {table.threads.min()}, expected 1 or more")
    if not any(_used(table.affinity)):
        raise StoreError("no row has an affinity, expected some runs whose threads were placed")
    if not (timed := np.isfinite(table.roi_s) & (table.roi_s > 0)).all():
        raise StoreError(
            f"the column 'roi_s' has {table.roi_s[~timed][0]:g}, expected seconds above 0 in every "
            "row; leave such rows out"
        )
    for name in ("progress", "performance", "energy_j"):
        values: Floats = getattr(table, name)
        if (odd := values[np.isinf(values) | (values < 0)]).size:
            raise StoreError(
                f"the column {name!r} has {odd[0]:g}, expected 0 or more, or NaN where it was not "
                "measured"
            )
    for name, values in table.counters.items():
        if (odd := values[values < 0]).size:
            raise StoreError(
                f"the column {COUNTER_PREFIX + name!r} has {odd[0]:g}, expected 0 or more, or NaN "
                "where it was not measured"
            )


def _used(column: Coded) -> list[str]:
    """The texts that rows have."""
    return [column.names[code] for code in np.unique(column.codes)]
