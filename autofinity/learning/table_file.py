"""An action table as a Parquet file, so that rules can be learned from it later or elsewhere."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from autofinity.learning.action_table import ActionTable
from autofinity.model.affinity import HINTS, Affinity
from autofinity.model.errors import StoreError
from autofinity.whole_file import replace_file

FORMAT = "autofinity-action-table"
FORMAT_VERSION = 1


def save(table: ActionTable, provenance: Mapping[str, object], path: Path | str) -> None:
    """Write it as a whole: one row a row, cut points and provenance in the footer.

    Raises `StoreError`; a file that was there is then kept.
    """
    path = Path(path)
    columns: dict[str, Any] = {
        f"bin:{name}": table.bins[:, i] for i, name in enumerate(table.counters)
    }
    names = [str(affinity) for affinity in table.affinities]
    columns["affinity"] = pa.array([names[i] for i in table.affinity], pa.string())
    for i, hint in enumerate(HINTS):
        columns[f"consequence:{hint}"] = table.consequences[:, i]
    columns["best"] = pa.array([str(HINTS[i]) for i in table.best], pa.string())
    columns["weight"] = table.weight
    header = {
        "version": FORMAT_VERSION,
        "counters": table.counters,
        "cut_points": dict(table.cut_points),
        "provenance": dict(provenance),
    }
    try:
        arrow = pa.table(columns).replace_schema_metadata({FORMAT: json.dumps(header)})
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


def load(path: Path | str) -> tuple[ActionTable, dict[str, object]]:
    """The table and its provenance. Raises `StoreError` for a damaged or foreign file."""
    try:
        arrow = pq.read_table(path, page_checksum_verification=True)
        header: Any = json.loads((arrow.schema.metadata or {})[FORMAT.encode()])
        if header["version"] != FORMAT_VERSION:
            raise StoreError(
                f"{path} has version {header['version']}, this autofinity reads {FORMAT_VERSION}"
            )
        counters = tuple(map(str, header["counters"]))
        names = arrow.column("affinity").to_pylist()
        distinct = sorted({name: Affinity.parse(name) for name in names}.values())
        number = {str(affinity): i for i, affinity in enumerate(distinct)}
        label = {str(hint): i for i, hint in enumerate(HINTS)}
        bins = [arrow.column(f"bin:{name}").to_numpy() for name in counters]
        table = ActionTable(
            counters=counters,
            cut_points={name: tuple(map(float, header["cut_points"][name])) for name in counters},
            bins=np.column_stack(bins).astype(np.int64) if bins else np.empty((len(names), 0), int),
            affinities=tuple(distinct),
            affinity=np.array([number[name] for name in names], dtype=np.int64),
            consequences=np.column_stack(
                [arrow.column(f"consequence:{hint}").to_numpy() for hint in HINTS]
            ),
            best=np.array([label[name] for name in arrow.column("best").to_pylist()], np.int64),
            weight=arrow.column("weight").to_numpy().astype(np.float64),
        )
    except (KeyError, ValueError, TypeError, OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{path} is no action table or is damaged ({type(error).__name__}: {error}); build it "
            "again with `autofinity table`"
        ) from error
    for i, name in enumerate(counters):
        if len(table) and not (
            table.bins[:, i].min() >= 0 and table.bins[:, i].max() <= len(table.cut_points[name])
        ):
            raise StoreError(f"{path}: bins of {name} do not fit its cut points; build it again")
    return table, dict(header["provenance"])
