"""An action table as a Parquet file, so that rules can be learned from it later or elsewhere."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

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
    """Write it as a whole: bins as numbers from 0; cut points and provenance in the footer.

    Raises `StoreError`; a file that was there is then kept.
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
    """Whether the path is an action table (rather than observations)."""
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
                f"{path} has version {header['version']}, this autofinity reads {FORMAT_VERSION}"
            )
        frame = arrow.to_pandas()
        counters = [str(name) for name in header["counters"]]
        affinities = sorted({Affinity.parse(name) for name in frame["affinity"]})
        table = action_frame(
            {name: tuple(map(float, header["cut_points"][name])) for name in counters},
            frame[[BIN + name for name in counters]].to_numpy(np.int64),
            affinities,
            pd.Index([str(each) for each in affinities]).get_indexer(frame["affinity"]),
            frame[list(CONSEQUENCES)].to_numpy(np.float64),
            pd.Index([str(hint) for hint in HINTS]).get_indexer(frame["best"]),
            frame["weight"].to_numpy(np.float64),
        )
        if table.drop(columns=list(CONSEQUENCES)).isna().to_numpy().any():
            raise ValueError("a bin, an affinity or a hint that there is not")
    except (KeyError, ValueError, TypeError, OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{path} is no action table or is damaged ({type(error).__name__}: {error}); build it "
            "again with `autofinity table`"
        ) from error
    return table, dict(header["provenance"])
