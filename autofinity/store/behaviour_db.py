"""The behaviour database: samples of each program, and the answers of its policy.

    program ──< behaviour (one a thread count: sample, answer, digest of its policy)
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
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Unpack

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.answer_on_record import AnswerOnRecord
from autofinity.model.errors import StoreError
from autofinity.store.behaviour_rows import (
    Known,
    LiveObservation,
    RunChanges,
    RunOrigin,
    RunRecord,
    known_of,
    observation_of,
    order_of,
    put,
    run_of,
    stored,
    taken,
)
from autofinity.store.behaviour_session import BehaviourSession
from autofinity.store.look_table import LookTable
from autofinity.store.mask_table import MaskTable
from autofinity.store.row_values import LARGEST

_RUN_COLUMNS = ", ".join(map(taken, RunRecord.__dataclass_fields__))


class BehaviourDB:
    """An open database. Make it with `open`; close it, or use it as a context manager."""

    def __init__(self, session: BehaviourSession) -> None:
        self.session = session
        """For those who read or write more than runs do (`Spool`, `RebuildMark`, `totals_of`)."""
        self.masks = MaskTable(session)
        self.looks = LookTable(session)

    @property
    def path(self) -> Path:
        """The file."""
        return self.session.path

    @property
    def damaged(self) -> tuple[str, ...]:
        """Rows that could not be read so far and were left out, one line each."""
        return self.session.damaged

    @property
    def damage(self) -> StoreError | None:
        """Error to raise after all readable rows were reported; None when no row was damaged."""
        return self.session.damage

    @classmethod
    def open(cls, path: Path, *, timeout_s: float = 2.0, read_only: bool = False) -> BehaviourDB:
        """Open or make the database; waits at most `timeout_s` for other writers.

        Raises `StoreError`: not writable, damaged, locked for longer, or from a newer version.
        """
        return cls(BehaviourSession(path, timeout_s, read_only))

    def __enter__(self) -> BehaviourDB:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.session.close()

    def answer(
        self, program: str, threads: int, policy: str, place: str = ""
    ) -> AnswerOnRecord | None:
        """Answer of this very policy for CPUs like these, or None. One of another (older) policy is
        deleted.

        `place` describes the CPUs that the program may use (`RunHeader.place`). An answer from
        before places were recorded is one for any place.
        """
        with self.session.statement() as connection:
            connection.execute(
                "UPDATE behaviour SET hint = NULL, by_number = 0, exchanged = 0, policy = NULL "
                "WHERE program = ? AND threads = ? AND policy IS NOT ?",
                (program, threads, policy),
            )
            row = connection.execute(
                "SELECT hint, by_number, exchanged FROM behaviour "
                "WHERE program = ? AND threads = ? AND place IN ('', ?)",
                (program, threads, place),
            ).fetchone()
            if not row or not row[0]:
                return None
            return AnswerOnRecord(Hint.from_letters(row[0]), order_of(row[1], row[2]))

    def remember_sample(
        self,
        program: str,
        path: str,
        threads: int,
        sample: Mapping[str, float],
        tier: str,
        place: str = "",
    ) -> None:
        """Store a sample, with the `place` it was taken in. The hint of an earlier sample is
        deleted, since it was not made from this sample.
        """
        with self.session.transaction() as connection:
            _remember_program(connection, program, path)
            connection.execute(
                "INSERT INTO behaviour(program, threads, sample, tier, sampled_at, place) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET sample = excluded.sample, "
                "tier = excluded.tier, sampled_at = excluded.sampled_at, place = excluded.place, "
                "hint = NULL, by_number = 0, exchanged = 0, policy = NULL",
                (program, threads, json.dumps(dict(sample)), tier, time.time(), place),
            )

    def remember_answer(
        self, program: str, threads: int, answer: AnswerOnRecord, policy: str, place: str = ""
    ) -> None:
        """Store a policy's answer for the present sample; without a sample of so many threads in
        this place, nothing is stored.
        """
        with self.session.statement() as connection:
            connection.execute(
                "UPDATE behaviour SET hint = ?, by_number = ?, exchanged = ?, policy = ? "
                "WHERE program = ? AND threads = ? AND place IN ('', ?)",
                (
                    str(answer.hint),
                    answer.order != "near home",
                    answer.order == "exchanged",
                    policy,
                    program,
                    threads,
                    place,
                ),
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
        with self.session.statement() as connection:
            connection.execute(
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
        return self.session.read(
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
        with self.session.transaction() as connection:
            _remember_program(connection, program, path)
            number = connection.execute(
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
        with self.session.statement() as connection:
            connection.execute(
                f"UPDATE run SET {', '.join(f'{name} = {put(name)}' for name in values)} "
                "WHERE id = ?",
                (*stored(values), run),
            )

    def take_over(self, earlier: int, run: int) -> None:
        """Continue the process of run `earlier` as `run`, which owns the masks from now on."""
        with self.session.transaction() as connection:
            connection.execute("UPDATE mask SET run = ? WHERE run = ?", (run, earlier))
            connection.execute(
                "UPDATE run SET phase = 'ended', cpus = '', ended = ? WHERE id = ?",
                (time.time(), earlier),
            )

    def programs(self) -> tuple[Known, ...]:
        """All known programs, newest sample first."""
        return self.session.read(
            known_of,
            f"SELECT program, {taken('path')}, threads, sample, tier, sampled_at, hint, policy, "
            "by_number, exchanged "
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
        return self.session.read(
            run_of,
            f"SELECT {_RUN_COLUMNS} FROM run JOIN program ON key = program {condition}",
            value,
        )

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Exclude all other writers: for a file that is made from the database."""
        with self.session.transaction():
            yield


def _remember_program(connection: sqlite3.Connection, key: str, path: str) -> None:
    connection.execute(
        f"INSERT INTO program VALUES (?, {put('path')}, ?) "
        "ON CONFLICT DO UPDATE SET path = excluded.path",
        (key, os.fsencode(path), time.time()),
    )
