"""The behaviour database: samples of each program, and the answers of its policy.

    program ──< behaviour (one a thread count: sample, hint, digest of the hint's policy)
            ──< run       (one a start: time, settings, bound threads, problems)
                    ──< observation (one an affinity that the run was sampled in: to learn from)
                    ──< mask        (one a thread that the run bound: the mask to restore)
                    ──< look        (at most 64 of each of the latest runs: counts by thread)

SQLite, one file that only its user may read, in WAL mode where no other host can have it open.
Every row is committed at once, so a killed monitor loses nothing that was written. A database of a
newer version is refused and left alone, and so is a database that others can write or that holds
anything but these tables (`behaviour_file`). A damaged database raises `StoreError`, and the run
that needs it goes on without. A damaged row is left out and reported (`damaged`); the others are
read.

Paths are stored as their bytes, in any encoding: as texts that need not be UTF-8.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Unpack

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.errors import StoreError
from autofinity.model.timeline import TimelineStep
from autofinity.store import spool
from autofinity.store.behaviour_file import StepLimit, connect, guarded
from autofinity.store.behaviour_rows import (
    Known,
    LiveObservation,
    MaskRecord,
    RunChanges,
    RunOrigin,
    RunRecord,
    known_of,
    look_of,
    mask_of,
    observation_of,
    put,
    rows_at_build_of,
    run_of,
    stored,
    taken,
)
from autofinity.store.behaviour_schema import transaction
from autofinity.store.behaviour_totals import Totals, totals_of
from autofinity.store.row_reader import RowReader
from autofinity.store.row_values import LARGEST

_FIRST_BUILD_ROWS = 10
_LEARNABLE = "hardware counters"
_AT_BUILD = "rows_at_build"
_RUNS_WITH_LOOKS = 100
"""Number of the latest runs that keep their looks: some KB each, 1 MB at most."""
_RUN_COLUMNS = ", ".join(map(taken, RunRecord.__dataclass_fields__))


class BehaviourDB:
    """An open database. Make it with `open`; close it, or use it as a context manager."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._steps = StepLimit(connection)
        self._rows_read = RowReader(connection, path)
        self.path = path

    @property
    def damaged(self) -> tuple[str, ...]:
        """Rows that could not be read so far and were left out, one line each."""
        return self._rows_read.damaged

    @property
    def damage(self) -> StoreError | None:
        """Error to raise after all readable rows were reported; None when no row was damaged."""
        return self._rows_read.damage

    @classmethod
    def open(cls, path: Path, *, timeout_s: float = 2.0, read_only: bool = False) -> BehaviourDB:
        """Open or make the database; waits at most `timeout_s` for other writers.

        Raises `StoreError`: not writable, damaged, locked for longer, or from a newer version.
        """
        return cls(connect(path, timeout_s, read_only), path)

    def __enter__(self) -> BehaviourDB:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._connection.close()

    def hint(self, program: str, threads: int, policy: str) -> Hint | None:
        """Hint of this very policy, or None. A hint of another (older) policy is deleted."""
        with self._guarded():
            self._connection.execute(
                "UPDATE behaviour SET hint = NULL, policy = NULL "
                "WHERE program = ? AND threads = ? AND policy IS NOT ?",
                (program, threads, policy),
            )
            row = self._connection.execute(
                "SELECT hint FROM behaviour WHERE program = ? AND threads = ?", (program, threads)
            ).fetchone()
            return Hint.from_letters(row[0]) if row and row[0] else None

    def remember_sample(
        self, program: str, path: str, threads: int, sample: Mapping[str, float], tier: str
    ) -> None:
        """Store a sample. The hint of an earlier sample is deleted, since it was not made from this
        sample.
        """
        with self._guarded(), self._transaction():
            self._remember_program(program, path)
            self._connection.execute(
                "INSERT INTO behaviour(program, threads, sample, tier, sampled_at) "
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET sample = excluded.sample, "
                "tier = excluded.tier, sampled_at = excluded.sampled_at, hint = NULL, "
                "policy = NULL",
                (program, threads, json.dumps(dict(sample)), tier, time.time()),
            )

    def remember_hint(self, program: str, threads: int, hint: Hint, policy: str) -> None:
        """Store a policy's answer for the present sample. Raises `StoreError` without a sample."""
        with self._guarded():
            changed = self._connection.execute(
                "UPDATE behaviour SET hint = ?, policy = ? WHERE program = ? AND threads = ?",
                (str(hint), policy, program, threads),
            ).rowcount
        if not changed:
            raise StoreError(
                f"there is no sample of program {program[:12]} with {threads} threads to keep a "
                "hint for; sample it first"
            )

    def remember_observation(
        self,
        run: int,
        program: str,
        threads: int,
        affinity: Affinity,
        machine: str,
        sample: Mapping[str, float],
        tier: str,
    ) -> None:
        """Store the behaviour of a run in one affinity; all rows are kept, none is replaced."""
        with self._guarded():
            self._connection.execute(
                "INSERT INTO observation(run, program, threads, affinity, machine, sample, tier, "
                "taken_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    run,
                    program,
                    threads,
                    str(affinity),
                    machine,
                    json.dumps(dict(sample)),
                    tier,
                    time.time(),
                ),
            )

    def observations(self) -> tuple[LiveObservation, ...]:
        """All observations, oldest first."""
        return self._read(
            observation_of,
            "SELECT run, program, threads, affinity, machine, sample, tier FROM observation "
            "ORDER BY id",
        )

    def begin_run(
        self, program: str, path: str, pid: int, tier: str, **origin: Unpack[RunOrigin]
    ) -> int:
        """Record the start of a program; return the number of the run."""
        values = {
            "program": program,
            "pid": pid,
            "started": time.time(),
            "tier": tier,
            "uuid": os.urandom(16).hex(),
            **origin,
        }
        with self._guarded(), self._transaction():
            self._remember_program(program, path)
            number = self._connection.execute(
                f"INSERT INTO run({', '.join(values)}) VALUES "
                f"({', '.join(put(name) for name in values)})",
                stored(values),
            ).lastrowid
        assert number is not None
        return number

    def update_run(self, run: int, **changes: Unpack[RunChanges]) -> None:
        """Record changes of a run; values that are not given stay."""
        values: dict[str, object] = {
            name: json.dumps(dict(value)) if isinstance(value, Mapping) else value
            for name, value in changes.items()
            if value is not None and name not in ("hint", "ended")
        }
        if (hint := changes.get("hint")) is not None:
            values["hint"] = str(hint)
        if changes.get("ended"):
            values["ended"] = time.time()
        if not values:
            return
        with self._guarded():
            self._connection.execute(
                f"UPDATE run SET {', '.join(f'{name} = {put(name)}' for name in values)} "
                "WHERE id = ?",
                (*stored(values), run),
            )

    def remember_masks(self, run: int, masks: Sequence[MaskRecord]) -> None:
        """Store the masks that threads are about to get; the mask before a thread's first row
        stays.
        """
        with self._guarded(), self._transaction():
            self._connection.executemany(
                "INSERT INTO mask VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET given = excluded.given",
                [(run, each.tid, each.start_ticks, each.before, each.given) for each in masks],
            )

    def masks(self, run: int) -> tuple[MaskRecord, ...]:
        """Masks of a run's threads, including threads that ended, in the order of their ids."""
        return self._read(
            mask_of,
            "SELECT tid, start_ticks, before, given FROM mask WHERE run = ? ORDER BY tid",
            run,
        )

    def remember_looks(self, run: int, looks: Sequence[TimelineStep]) -> None:
        """Store the looks at a run in place of those that were stored before. Only the latest runs
        keep theirs.
        """
        rows = [
            (run, number, look.start_ns, look.end_ns, look.place, _counts_text(look))
            for number, look in enumerate(looks)
        ]
        with self._guarded(), self._transaction():
            self._connection.execute(
                "DELETE FROM look WHERE run = ? OR run <= ? - ?", (run, run, _RUNS_WITH_LOOKS)
            )
            self._connection.executemany("INSERT INTO look VALUES (?, ?, ?, ?, ?, ?)", rows)

    def looks(self, run: int) -> tuple[TimelineStep, ...]:
        """Looks at a run, in order of time; empty for an older run."""
        return self._read(
            look_of,
            "SELECT start_ns, end_ns, place, counts FROM look WHERE run = ? ORDER BY number",
            run,
        )

    def take_over(self, earlier: int, run: int) -> None:
        """Continue the process of run `earlier` as `run`, which owns the masks from now on."""
        with self._guarded(), self._transaction():
            self._connection.execute("UPDATE mask SET run = ? WHERE run = ?", (run, earlier))
            self._connection.execute(
                "UPDATE run SET phase = 'ended', cpus = '', ended = ? WHERE id = ?",
                (time.time(), earlier),
            )

    def forget_masks(self, run: int) -> None:
        """Delete the masks of a run whose threads have ended, or have their own masks again."""
        with self._guarded():
            self._connection.execute("DELETE FROM mask WHERE run = ?", (run,))

    def programs(self) -> tuple[Known, ...]:
        """All known programs, newest sample first."""
        return self._read(
            known_of,
            f"SELECT program, {taken('path')}, threads, sample, tier, sampled_at, hint, policy "
            "FROM behaviour JOIN program ON key = program ORDER BY sampled_at DESC, threads",
        )

    def runs(self, limit: int = 20) -> tuple[RunRecord, ...]:
        """The latest runs, newest first."""
        return self._runs("ORDER BY id DESC LIMIT ?", limit)

    def run(self, number: int) -> RunRecord | None:
        """The run of that number; None where there is none."""
        if number > LARGEST:
            return None
        return next(iter(self._runs("WHERE id = ?", number)), None)

    def open_runs(self, host: str | None = None) -> tuple[RunRecord, ...]:
        """Runs that began on `host` (or on any host) and have no recorded end, newest first.

        Their processes may have ended all the same: the caller must check.
        """
        return self._runs("WHERE ended IS NULL AND host = coalesce(?, host) ORDER BY id DESC", host)

    def _runs(self, condition: str, value: object) -> tuple[RunRecord, ...]:
        return self._read(
            run_of,
            f"SELECT {_RUN_COLUMNS} FROM run JOIN program ON key = program {condition}",
            value,
        )

    def _read[T](
        self, of: Callable[[tuple[object, ...]], T], question: str, *values: object
    ) -> tuple[T, ...]:
        with self._guarded():
            return self._rows_read.read(of, question, *values)

    def totals(self) -> Totals:
        """Numbers of rows of each kind."""
        with self._guarded():
            return totals_of(self._connection)

    def rebuild_due(self, growth_share: float = 0.2) -> bool:
        """Whether the data for learning have grown by `growth_share` since the last rebuild.

        Only observations with hardware counters count; the first rebuild waits for ten.
        """
        built = next(
            iter(self._read(rows_at_build_of, "SELECT value FROM meta WHERE name = ?", _AT_BUILD)),
            0,
        )
        rows = self._rows()
        if built == 0:
            return rows >= _FIRST_BUILD_ROWS
        return rows >= built * (1 + growth_share)

    def mark_built(self) -> None:
        """Record that a policy was built from the present rows, or that the attempt gave none."""
        rows = self._rows()
        with self._guarded():
            self._connection.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                (_AT_BUILD, str(rows)),
            )

    def waiting_runs(
        self, site: str | None, most: int, after: int | None = None
    ) -> tuple[spool.SpooledRun, ...]:
        """At most `most` finished runs with numbers above `after` that wait for this site; without
        a site all that no site has.
        """
        with self._guarded():
            return spool.waiting_runs(self._connection, site, most, after)

    def waiting_count(self) -> Mapping[str, int]:
        """Number of runs that wait to be sent, by the name of their site."""
        with self._guarded():
            return spool.waiting_count(self._connection)

    def mark_sent(self, runs: Sequence[spool.SpooledRun], *, refused: bool = False) -> None:
        """Record that a site has these runs, or that no site takes them."""
        with self._guarded():
            (spool.mark_refused if refused else spool.mark_sent)(self._connection, runs)

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Exclude all other writers: for a file that is made from the database."""
        with self._guarded(), self._transaction():
            yield

    def _rows(self) -> int:
        with self._guarded():
            return int(
                self._connection.execute(
                    "SELECT count(*) FROM observation WHERE tier = ?", (_LEARNABLE,)
                ).fetchone()[0]
            )

    def _remember_program(self, key: str, path: str) -> None:
        self._connection.execute(
            f"INSERT INTO program VALUES (?, {put('path')}, ?) "
            "ON CONFLICT DO UPDATE SET path = excluded.path",
            (key, os.fsencode(path), time.time()),
        )

    def _guarded(self) -> AbstractContextManager[None]:
        self._steps.begin()
        return guarded(self.path)

    def _transaction(self) -> AbstractContextManager[None]:
        return transaction(self._connection)


def _counts_text(look: TimelineStep) -> str:
    """Counts by thread as JSON, to four digits; what was not measured is left out."""
    return json.dumps(
        {
            str(thread): {
                name: float(f"{count:.4g}")
                for name, count in counts.items()
                if math.isfinite(count)
            }
            for thread, counts in look.counts.items()
        },
        separators=(",", ":"),
    )
