"""All observations of a campaign as columns, which learning reads.

Text columns are codes into sorted names, so ten million rows are a few hundred megabytes and groups
are integer comparisons.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from autofinity.foreign_frame import check_names, numbers, shown, texts, whole_numbers
from autofinity.model.affinity import Affinity
from autofinity.model.counters import Behaviour
from autofinity.model.errors import StoreError
from autofinity.model.observation import Observation, PlacedBy

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
type Codes = npt.NDArray[np.int32]
type Mask = npt.NDArray[np.bool_]

TEXT_COLUMNS = ("program", "input", "affinity", "machine", "backend", "version")
WHOLE_COLUMNS = ("threads", "sample", "seed")
NUMBER_COLUMNS = ("progress", "performance", "roi_s")
ENERGY_COLUMN = "energy_j"
"""Optional column: older stores have none."""
PLACEMENT_COLUMN = "placement"
"""Column that files of version 2 lack: there an affinity placed every run."""
COLUMNS = (*TEXT_COLUMNS, PLACEMENT_COLUMN, *WHOLE_COLUMNS, *NUMBER_COLUMNS, ENERGY_COLUMN)
COUNTER_PREFIX = "counter:"
RUN = ("program", "input", "threads", "placement", "affinity", "seed")
"""Columns that identify a run, as `Sink.done` does."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A text column: `names[codes[i]]` is the text of row i; `names` is sorted and unique."""

    codes: Codes
    names: tuple[str, ...]

    def __getitem__(self, rows: Ints | Mask) -> Coded:
        return Coded(self.codes[rows], self.names)

    def text(self) -> npt.NDArray[np.object_]:
        """The texts themselves, one for each row."""
        return np.asarray(self.names, dtype=object)[self.codes]

    def equals(self, text: str) -> Mask:
        """Mask of the rows with this text."""
        code = self.names.index(text) if text in self.names else -1
        same: Mask = self.codes == code
        return same


type Column = Coded | Floats | Ints


@dataclass(frozen=True, slots=True)
class ObservationTable:
    """Columns of n rows each, sorted by `RUN` and sample; meanings as in `model.Observation`."""

    program: Coded
    input: Coded
    threads: Ints
    affinity: Coded
    """Text (`str`) of the affinity."""
    sample: Ints
    progress: Floats
    performance: Floats
    roi_s: Floats
    machine: Coded
    backend: Coded
    seed: Ints
    version: Coded
    counters: Mapping[str, Floats]
    """Values of each measured counter, by name in sorted order; NaN where a run did not measure
    it."""
    energy_j: Floats
    """Joules of the whole run; NaN where no energy was measured."""
    placement: Coded

    def __len__(self) -> int:
        return len(self.sample)

    @staticmethod
    def from_pandas(frame: pd.DataFrame) -> ObservationTable:
        """Inverse of `to_pandas`.

        Rows come sorted. Text may be of any dtype, and numbers, too. The energy and the placement
        may be left out (then `affinity` placed every run).

        Raises `StoreError`, which names the column, for one that is missing, unknown or there
        twice, for names of several levels, for missing text, and for numbers that are none or not
        whole (`store.foreign_observations` checks what they mean).
        """
        check_names(frame, StoreError)
        columns: dict[str, Column] = {
            ENERGY_COLUMN: np.full(len(frame), np.nan),
            PLACEMENT_COLUMN: Coded(np.zeros(len(frame), np.int32), ("affinity",)),
        }
        for name, values in frame.items():
            if name in (*TEXT_COLUMNS, PLACEMENT_COLUMN):
                columns[name] = _coded(texts(values, name, StoreError).cat)
            elif name in WHOLE_COLUMNS:
                columns[name] = whole_numbers(values, name, StoreError)
            elif name in COLUMNS or name.startswith(COUNTER_PREFIX):
                columns[name] = numbers(values, name, StoreError)
            else:
                columns[name] = np.empty(0)
        for name in sorted(
            {*COLUMNS} ^ {name for name in columns if not name.startswith(COUNTER_PREFIX)}
        ):
            fault = "lacks the" if name in COLUMNS else "has an unknown"
            raise StoreError(
                f"the table {fault} column {shown(name)}, expected {', '.join(COLUMNS)} and "
                f"counters as {COUNTER_PREFIX}NAME; begin with a table of `observations`"
            )
        table = _table_of(columns)
        keys = [getattr(table, name) for name in (*RUN, "sample")]
        order = np.lexsort([k.codes if isinstance(k, Coded) else k for k in keys[::-1]])
        return table if bool(np.all(order[1:] > order[:-1])) else table.take(order)

    @staticmethod
    def from_arrow(table: pa.Table) -> ObservationTable:
        """Table from the columns of a pyarrow table (as the store writes it), sorted."""
        return ObservationTable.from_pandas(table.to_pandas(strings_to_categorical=True))

    def to_pandas(self) -> pd.DataFrame:
        """Data frame with one row for each observation, and the columns of the files.

        Text is `category`; names that no row has may be among the categories. `WHOLE_COLUMNS` are
        int64 and all others float64, with NaN for values that were not measured. Nothing is lost:
        `from_pandas` gives an equal table.
        """
        import pandas as pd

        return pd.DataFrame(
            {
                name: pd.Categorical.from_codes(column.codes, pd.Index(column.names, dtype=str))
                if isinstance(column, Coded)
                else column
                for name, column in self.columns().items()
            }
        )

    def to_arrow(self) -> pa.Table:
        """Inverse of `from_arrow`: a pyarrow table as the store writes it."""
        import pyarrow as pa

        def array(column: Column) -> pa.Array:
            if not isinstance(column, Coded):
                return pa.array(column)
            coded = pa.DictionaryArray.from_arrays(column.codes, pa.array(column.names))
            return coded.cast(pa.string())

        return pa.table({name: array(column) for name, column in self.columns().items()})

    def columns(self) -> dict[str, Column]:
        """The columns by their names in files, in that order."""
        counters = {COUNTER_PREFIX + name: values for name, values in self.counters.items()}
        return {name: getattr(self, name) for name in COLUMNS} | counters

    @staticmethod
    def stacked(tables: Sequence[ObservationTable]) -> ObservationTable:
        """The rows of several tables (at least one), one table after another, not sorted.

        A counter that a table lacks is NaN in its rows.
        """
        columns = [(table.columns(), np.full(len(table), np.nan)) for table in tables]
        names = dict.fromkeys(name for own, _ in columns for name in own)
        return _table_of(
            {name: _stacked([own.get(name, none) for own, none in columns]) for name in names}
        )

    def take(self, rows: Ints | Mask) -> ObservationTable:
        """The rows named by indices or by a mask."""
        return _table_of({name: column[rows] for name, column in self.columns().items()})

    def placed_by(self, placement: PlacedBy) -> ObservationTable:
        """Rows of the runs with this placement; the affinities of the table are only those of these
        runs.
        """
        names = self.placement.names
        code = names.index(placement) if placement in names else -1
        rows = self.take(self.placement.codes == code)
        used, codes = np.unique(rows.affinity.codes, return_inverse=True)
        kept = Coded(codes.astype(np.int32), tuple(rows.affinity.names[i] for i in used))
        return replace(rows, affinity=kept)

    def without_program(self, program: str) -> ObservationTable:
        """All rows except those of one program (leave one program out)."""
        return self.take(~self.program.equals(program))

    def of_program(self, program: str) -> ObservationTable:
        """Rows of one program only."""
        return self.take(self.program.equals(program))

    def rows_of(
        self, program: str, data: str, threads: int, placement: PlacedBy, affinity: Affinity
    ) -> Ints:
        """Rows of the runs of a workload (its program, input and threads) with this placement, all
        seeds.
        """
        named = (
            (self.program, program),
            (self.input, data),
            (self.placement, placement),
            (self.affinity, str(affinity)),
        )
        mask = self.threads == threads
        for column, text in named:
            mask &= column.equals(text)
        return np.flatnonzero(mask)

    def programs(self) -> tuple[str, ...]:
        """Names of the programs that have rows, sorted."""
        return tuple(self.program.names[code] for code in np.unique(self.program.codes))

    def workload(self) -> Ints:
        """Number (from 0) of each row's (program, input, threads): one unit of comparison."""
        return number_combinations(self.program.codes, self.input.codes, self.threads)

    def observations(self) -> Iterator[Observation]:
        """The rows as values, one by one: for small tables."""
        affinities = [Affinity.parse(name) for name in self.affinity.names]
        for row in range(len(self)):
            values = {name: float(column[row]) for name, column in self.counters.items()}
            yield Observation(
                program=self.program.names[self.program.codes[row]],
                input=self.input.names[self.input.codes[row]],
                threads=int(self.threads[row]),
                affinity=affinities[self.affinity.codes[row]],
                sample=int(self.sample[row]),
                progress=float(self.progress[row]),
                behaviour=Behaviour(values),
                performance=float(self.performance[row]),
                roi_s=float(self.roi_s[row]),
                machine=self.machine.names[self.machine.codes[row]],
                backend=self.backend.names[self.backend.codes[row]],
                seed=int(self.seed[row]),
                version=self.version.names[self.version.codes[row]],
                energy_j=None if np.isnan(self.energy_j[row]) else float(self.energy_j[row]),
                placement=cast("PlacedBy", self.placement.names[self.placement.codes[row]]),
            )

    def digest(self) -> str:
        """SHA-256 of the content: equal for equal rows, in whatever files they are stored."""
        total = hashlib.sha256()
        text = list(TEXT_COLUMNS)
        if set(self.placement.text()) - {"affinity"}:
            text.append(PLACEMENT_COLUMN)
        for name in text:
            column: Coded = getattr(self, name)
            used, codes = np.unique(column.codes, return_inverse=True)
            total.update("\0".join([name, *(column.names[code] for code in used)]).encode())
            total.update(codes.astype("<i4").tobytes())
        for name in WHOLE_COLUMNS:
            total.update(name.encode() + getattr(self, name).astype("<i8").tobytes())
        for name in NUMBER_COLUMNS:
            total.update(name.encode() + _bytes(getattr(self, name)))
        if not np.all(np.isnan(self.energy_j)):
            total.update(ENERGY_COLUMN.encode() + _bytes(self.energy_j))
        for name in sorted(self.counters):
            total.update(f"{COUNTER_PREFIX}{name}".encode() + _bytes(self.counters[name]))
        return total.hexdigest()


def number_combinations(*columns: npt.NDArray[np.integer]) -> Ints:
    """Consecutive numbers of the distinct combinations of some integer columns."""
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, codes = np.unique(column, return_inverse=True)
        # Renumbered after each column, so the product of sizes stays far below 2^63.
        _, joint = np.unique(joint * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return joint.astype(np.int64)


def _bytes(values: Floats) -> bytes:
    """Little-endian bytes with one NaN and one zero, so equal content gives an equal digest."""
    clean = np.where(np.isnan(values), np.nan, values) + 0.0
    return clean.astype("<f8").tobytes()


def _stacked(columns: Sequence[Column]) -> Column:
    """One column made of several, all text or all numbers."""
    coded = [column for column in columns if isinstance(column, Coded)]
    if not coded:
        return np.concatenate([column for column in columns if not isinstance(column, Coded)])
    names = sorted({name for column in coded for name in column.names})
    rank = {name: code for code, name in enumerate(names)}
    codes = [np.array([rank[n] for n in c.names], np.int32)[c.codes] for c in coded]
    return Coded(np.concatenate(codes), tuple(names))


def _table_of(columns: Mapping[str, Column]) -> ObservationTable:
    """A table of columns named as in files, unchanged."""
    prefix = COUNTER_PREFIX
    counters = sorted(name.removeprefix(prefix) for name in columns if name.startswith(prefix))
    return ObservationTable(
        **{name: column for name, column in columns.items() if not name.startswith(prefix)},  # type: ignore[arg-type]
        counters={name: columns[prefix + name] for name in counters},  # type: ignore[misc]
    )


def _coded(values: Any) -> Coded:
    """Text column from a pandas column's `cat` accessor, with its categories sorted."""
    names = [str(name) for name in values.categories]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return Coded(rank[values.codes.to_numpy()], tuple(names[i] for i in order))
