"""An action table as a Parquet file, so that rules can be learned from it later or elsewhere."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from autofinity.checked_file import shown
from autofinity.learning.action_frame import (
    BIN,
    CONSEQUENCES,
    action_frame,
    bins_of,
    cut_points_of,
)
from autofinity.model.affinity import HINTS, Affinity
from autofinity.model.errors import StoreError
from autofinity.whole_file import replace_file

FORMAT = "autofinity-action-table"
FORMAT_VERSION = 1


def save(table: pd.DataFrame, provenance: Mapping[str, object], path: Path | str) -> None:
    """Write the table as a whole: bins as numbers from 0; cut points and provenance in the footer.

    Raises `StoreError`; an earlier file is then kept.
    """
    path = Path(path)
    cut_points = cut_points_of(table)
    binned = zip(cut_points, bins_of(table).T, strict=True)
    plain = table.astype({"affinity": str, "best": str}).assign(
        **{BIN + name: codes for name, codes in binned}
    )
    header = {
        "version": FORMAT_VERSION,
        "counters": list(cut_points),
        "cut_points": cut_points,
        "provenance": dict(provenance),
    }
    try:
        arrow = pa.Table.from_pandas(plain, preserve_index=False)
        arrow = arrow.replace_schema_metadata({FORMAT: json.dumps(header)})
        content = io.BytesIO()
        pq.write_table(arrow, content, compression="zstd", write_page_checksum=True)
        replace_file(path, content.getvalue())
    except (OSError, TypeError, pa.ArrowException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise StoreError(f"cannot write the action table {path}: {reason}") from error


def is_table(path: Path | str) -> bool:
    """Whether the file is an action table (rather than observations)."""
    try:
        return Path(path).is_file() and FORMAT.encode() in (pq.read_schema(path).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def load(path: Path | str) -> tuple[pd.DataFrame, dict[str, object]]:
    """The table and its provenance. Raises `StoreError` for a damaged or foreign file."""
    try:
        arrow = pq.read_table(path, page_checksum_verification=True)
        header: Any = json.loads((arrow.schema.metadata or {})[FORMAT.encode()])
        if header["version"] != FORMAT_VERSION:
            raise StoreError(
                f"{path} has version {shown(header['version'])}, this autofinity reads "
                f"{FORMAT_VERSION}"
            )
        return _table_of(arrow, header), {**header["provenance"]}
    except (
        *(LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError),
        *(OSError, pa.ArrowException),
    ) as error:  # columns of other kinds, a header of other things
        raise StoreError(
            f"{path} is no action table or is damaged ({type(error).__name__}: {error}); build it "
            "again with `autofinity table`"
        ) from error


def _table_of(arrow: pa.Table, header: Any) -> pd.DataFrame:
    """The table in a file. Raises an error of any kind where the file holds no action table."""
    counters = [str(name) for name in header["counters"]]
    if len(set(arrow.column_names)) != arrow.num_columns:
        raise ValueError("a column comes twice")
    for column in map(arrow.column, (BIN + name for name in counters)):
        if not pa.types.is_integer(column.type) or column.null_count:
            raise ValueError(f"bins as {column.type}, expected whole numbers in every row")
    frame = arrow.to_pandas()
    cuts = {name: tuple(map(float, header["cut_points"][name])) for name in counters}
    for name, points in cuts.items():
        if not all(a < b for a, b in pairwise((-np.inf, *points, np.inf))):
            raise ValueError(f"the cut points of {shown(name)} are not finite and ascending")
    affinities = sorted({Affinity.parse(name) for name in frame["affinity"]})
    consequences = frame[list(CONSEQUENCES)].to_numpy(np.float64)
    weight = frame["weight"].to_numpy(np.float64)
    if np.isinf(consequences).any():
        raise ValueError("a consequence that is not finite")
    if not ((weight > 0) & np.isfinite(weight)).all():
        raise ValueError("expected a finite weight above 0 in every row")
    table = action_frame(
        cuts,
        frame[[BIN + name for name in counters]].to_numpy(np.int64),
        affinities,
        pd.Index([str(each) for each in affinities]).get_indexer(frame["affinity"]),
        consequences,
        pd.Index([str(hint) for hint in HINTS]).get_indexer(frame["best"]),
        weight,
    )
    if table.drop(columns=list(CONSEQUENCES)).isna().to_numpy().any():
        raise ValueError("a bin, an affinity or a hint that there is not")
    return table
