"""Observations as a folder of Parquet files, one file for each finished run.

    write ─► files (temporary name, fsync, rename) ─► read ─► ObservationTable

A run is one (program, input, threads, placement, affinity, seed). Its file appears complete or not
at all, so a crash or a full disk loses at most the run in flight, and a damaged file is refused. A
row is one observation; every counter is a column called `counter:NAME`.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from autofinity.model.errors import StoreError
from autofinity.model.observation import Observation, Workload
from autofinity.new_folder import make_missing
from autofinity.ports import RunKey
from autofinity.store.observation_file import keys_of, read_file, write_file
from autofinity.store.observation_files import observation_files
from autofinity.store.observation_table import (
    COUNTER_PREFIX,
    ENERGY_COLUMN,
    NUMBER_COLUMNS,
    PLACEMENT_COLUMN,
    RUN,
    TEXT_COLUMNS,
    WHOLE_COLUMNS,
    ObservationTable,
)
from autofinity.whole_file import replace_file

_ORIGINS = "origins.json"


class ObservationStore:
    """A `Sink` over a folder, which is made when the first run is written.

    Writing a run a second time replaces it. Several processes may write at once as long as they
    write different runs.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def write(self, observations: Iterable[Observation]) -> None:
        """Store whole runs, durably, before returning; all rows of a run must come in one call.

        Raises `StoreError` when the folder cannot be written (a full disk, no permission); runs
        written before are untouched.
        """
        runs: dict[RunKey, list[Observation]] = {}
        for row in observations:
            runs.setdefault(key_of(row), []).append(row)
        for key, rows in runs.items():
            write_file(self.folder / _file_name(key), _arrow_of(rows), [key])

    def done(self) -> frozenset[RunKey]:
        """Complete runs. Raises `StoreError` for a damaged or foreign Parquet file."""
        return frozenset(key for path in self._files() for key in keys_of(path))

    def expect(self, origins: Mapping[Workload, str]) -> int:
        """Delete the runs of workloads that have changed since these runs were stored; return the
        number of deleted files.

        `origins` identifies the inputs of a workload's runs (its trace, the machine), in any words.
        A file with a run of a changed workload is deleted as a whole. Raises `StoreError`.
        """
        known = self._origins()
        changed = {
            workload for workload, origin in origins.items() if known.get(workload) != origin
        }
        if not changed:
            return 0
        stale = [path for path in self._files() if any(key[:3] in changed for key in keys_of(path))]
        for path in stale:
            path.unlink(missing_ok=True)
        rows = [[*workload, origin] for workload, origin in sorted({**known, **origins}.items())]
        try:
            make_missing(self.folder)
            replace_file(self.folder / _ORIGINS, json.dumps(rows, indent=0))
        except OSError as error:
            raise StoreError(
                f"cannot write {self.folder / _ORIGINS}: {error.strerror}; free some space or name "
                "another folder"
            ) from error
        return len(stale)

    def _origins(self) -> dict[Workload, str]:
        """Origins that were stored last; empty where they are unknown or damaged."""
        try:
            rows = json.loads((self.folder / _ORIGINS).read_text())
            return {Workload(str(p), str(i), int(t)): str(origin) for p, i, t, origin in rows}
        except (OSError, ValueError, TypeError):
            return {}

    def read(self) -> ObservationTable:
        """All observations; see the function `read`."""
        return read(self.folder)

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.parquet")) if self.folder.is_dir() else []


def read(path: Path | str) -> ObservationTable:
    """Read a store's folder, or one of its files.

    Rows come sorted by run (`RUN` has its columns) and sample, in whatever order they were written.
    A counter that a run did not measure is NaN in its rows. Raises `StoreError` when there is
    nothing to read, or when a file is damaged or not ours; the message names the file.
    """
    path = Path(path)
    rows = _read_files(observation_files(path))
    if not rows.num_rows:
        raise StoreError(f"{path} holds no observations, expected at least one; profile again")
    return ObservationTable.from_arrow(rows)


def write_one(table: ObservationTable, path: Path | str, *, packed: bool = False) -> None:
    """Write a whole table to one file at any path; `read` reads it back.

    `packed` rounds rates to 11 bits, progress to 16, and compresses strongly. Raises `StoreError`;
    an earlier file is then kept.
    """
    path = Path(path)
    arrow = table.to_arrow()
    columns = [arrow.column(name).to_pylist() for name in RUN]
    keys = sorted(set(zip(*columns, strict=True)))
    write_file(path, arrow, keys, packed=packed)


def key_of(row: Observation) -> RunKey:
    """The run that an observation belongs to."""
    return (row.program, row.input, row.threads, row.placement, str(row.affinity), row.seed)


def table_of(observations: Sequence[Observation]) -> ObservationTable:
    """The same table directly from memory, for a campaign that needs no files. Raises `StoreError`
    without observations.
    """
    if not observations:
        raise StoreError("there are no observations, expected at least one")
    return ObservationTable.from_arrow(_arrow_of(observations))


def _arrow_of(rows: Sequence[Observation]) -> pa.Table:
    columns: dict[str, pa.Array] = {}
    for name in (*TEXT_COLUMNS, PLACEMENT_COLUMN):
        columns[name] = pa.array([str(getattr(row, name)) for row in rows], pa.string())
    for name in WHOLE_COLUMNS:
        columns[name] = pa.array([getattr(row, name) for row in rows], pa.int64())
    for name in NUMBER_COLUMNS:
        columns[name] = pa.array([float(getattr(row, name)) for row in rows], pa.float64())
    columns[ENERGY_COLUMN] = pa.array([row.energy_j for row in rows], pa.float64())
    counters = sorted({name for row in rows for name in row.behaviour.values})
    for name in counters:
        values = [float(row.behaviour[name]) for row in rows]
        columns[COUNTER_PREFIX + name] = pa.array(values, pa.float64())
    return pa.table(columns)


def _file_name(key: RunKey) -> str:
    """A name that a person can read, made unique by a hash of the exact key."""
    program, data, threads, placement, _, seed = key
    words = f"{program}-{data}-{threads}-{placement}-s{seed}"
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", words)[:80]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:20]
    return f"{readable.lstrip('.')}-{digest}.parquet"


def _read_files(files: Sequence[Path]) -> pa.Table:
    """All rows of all files.

    Raises `StoreError` where two files have the same run on a machine: nobody can say which one is
    right.
    """
    tables = []
    known: dict[tuple[str, RunKey], Path] = {}
    for path in files:
        found, table = read_file(path)
        runs = set(itertools.product(table.column("machine").unique().to_pylist(), found))
        if twice := known.keys() & runs:
            first = min(twice)
            raise StoreError(
                f"{known[first]} and {path} both have the run {' '.join(map(str, first[1]))}; "
                "expected each run in one file: name one of the files, or move the other away"
            )
        known |= dict.fromkeys(runs, path)
        tables.append(table)
    return pa.concat_tables(tables, promote_options="default")
