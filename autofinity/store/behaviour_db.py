"""The behaviour database: what was sampled of each program, and what its policy said.

    program ──< behaviour (one a thread count: sample, hint, digest of the policy that gave it)
            ──< run       (one a start: when, how, what was bound, what went less well)
                    ──< observation (one an affinity the run was sampled in: to learn from)

SQLite in WAL mode, one file that only its user may read. Every row is committed at once, so a
killed monitor loses nothing that was written. A database of a newer version is refused and left
alone; a damaged one raises `StoreError`, and the run that wanted it goes on without.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.errors import StoreError

SCHEMA_VERSION = 2
_FIRST_BUILD_ROWS = 10

_SCHEMA = """
CREATE TABLE program (
    key TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    first_seen REAL NOT NULL
) STRICT;
CREATE TABLE behaviour (
    program TEXT NOT NULL REFERENCES program(key) ON DELETE CASCADE,
    threads INTEGER NOT NULL,
    sample TEXT NOT NULL,
    tier TEXT NOT NULL,
    sampled_at REAL NOT NULL,
    hint TEXT,
    policy TEXT,
    PRIMARY KEY (program, threads)
) STRICT;
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    program TEXT NOT NULL REFERENCES program(key) ON DELETE CASCADE,
    pid INTEGER NOT NULL,
    started REAL NOT NULL,
    ended REAL,
    tier TEXT NOT NULL,
    threads INTEGER,
    hint TEXT,
    bound INTEGER NOT NULL DEFAULT 0,
    notes TEXT NOT NULL DEFAULT '',
    totals TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""

_SCHEMA_2 = """
CREATE TABLE observation (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    program TEXT NOT NULL REFERENCES program(key) ON DELETE CASCADE,
    threads INTEGER NOT NULL,
    affinity TEXT NOT NULL,
    machine TEXT NOT NULL,
    sample TEXT NOT NULL,
    tier TEXT NOT NULL,
    taken_at REAL NOT NULL
) STRICT;
"""

_LEARNABLE = "hardware counters"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one program with one thread count."""

    program: str
    path: str
    threads: int
    sample: Mapping[str, float]
    """Counts per thread and second, and ratios, by neutral name."""
    tier: str
    sampled_at: float
    """Seconds since the epoch."""
    hint: Hint | None
    policy: str | None
    """Digest of the policy that gave the hint."""


@dataclass(frozen=True, slots=True)
class LiveObservation:
    """What one run did in one affinity."""

    run: int
    """Number of the run: rows of one run are comparable with each other."""
    program: str
    threads: int
    affinity: Affinity
    machine: str
    """Which machine it was, in words; equal for machines of the same shape and CPU model."""
    sample: Mapping[str, float]
    """Counts per thread and second, by neutral name."""
    tier: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One start of a program under `autofinity run`."""

    id: int
    program: str
    pid: int
    started: float
    ended: float | None
    tier: str
    threads: int | None
    hint: str | None
    bound: int
    notes: str
    totals: Mapping[str, int]
    """Counts of the whole run, threads and children together; empty without hardware counters."""


def default_path(environment: Mapping[str, str] | None = None) -> Path:
    """`autofinity/behaviour.db` in the user's state folder (XDG base directories).

    Raises `StoreError` when neither XDG_STATE_HOME nor HOME names a folder.
    """
    env = os.environ if environment is None else environment
    state, home = env.get("XDG_STATE_HOME", ""), env.get("HOME", "")
    if state.startswith("/"):  # a relative one does not count, says the specification
        return Path(state) / "autofinity" / "behaviour.db"
    if home.startswith("/"):
        return Path(home) / ".local" / "state" / "autofinity" / "behaviour.db"
    raise StoreError(
        "there is no state folder: expected XDG_STATE_HOME or HOME to name one; set it, or give "
        "--db FILE or --no-db"
    )


class BehaviourDB:
    """An open database. Use `open`; close it, or use it as a context manager."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def open(cls, path: Path, *, timeout_s: float = 2.0, read_only: bool = False) -> BehaviourDB:
        """Open or make the database; waits at most `timeout_s` for other writers.

        Raises `StoreError`: not writable, damaged, locked for longer, or from a newer version.
        """
        try:
            if read_only:
                if not path.is_file():
                    raise StoreError(
                        f"there is no behaviour database at {path}; `autofinity run` makes it"
                    )
                connection = sqlite3.connect(
                    f"file:{_quoted(path)}?mode=ro", uri=True, timeout=timeout_s
                )
            else:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                # Made by us and not by SQLite, so that it is private from its first byte on; the
                # -wal and -shm files take its mode.
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
                connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"the behaviour database {path} cannot be opened: {error}") from error
        database = cls(connection, path)
        try:
            with database._guarded():
                database._check(read_only)
        except BaseException:
            connection.close()
            raise
        return database

    def __enter__(self) -> BehaviourDB:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        with suppress(sqlite3.Error):
            self._connection.close()

    def hint(self, program: str, threads: int, policy: str) -> Hint | None:
        """Hint of this very policy, or None. A hint of another (older) policy is dropped."""
        with self._guarded():
            self._connection.execute(
                "UPDATE behaviour SET hint = NULL, policy = NULL "
                "WHERE program = ? AND threads = ? AND policy IS NOT ?",
                (program, threads, policy),
            )
            row = self._connection.execute(
                "SELECT hint FROM behaviour WHERE program = ? AND threads = ?", (program, threads)
            ).fetchone()
            return Hint.parse(row[0]) if row and row[0] else None

    def remember_sample(
        self, program: str, path: str, threads: int, sample: Mapping[str, float], tier: str
    ) -> None:
        """Keep a sample; the hint of an earlier one goes, since it was not made from this one."""
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
        """Keep what a policy said of the sample that is there. Raises `StoreError` without one."""
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
        """Keep what a run did in one affinity; every one is kept, none is replaced."""
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
        """All of them, oldest first."""
        with self._guarded():
            if not self._has_observations():
                return ()
            rows = self._connection.execute(
                "SELECT run, program, threads, affinity, machine, sample, tier FROM observation "
                "ORDER BY id"
            ).fetchall()
            return tuple(_observation(row) for row in rows)

    def begin_run(self, program: str, path: str, pid: int, tier: str) -> int:
        """Note that a program was started; the number of the run."""
        with self._guarded(), self._transaction():
            self._remember_program(program, path)
            number = self._connection.execute(
                "INSERT INTO run(program, pid, started, tier) VALUES (?, ?, ?, ?)",
                (program, pid, time.time(), tier),
            ).lastrowid
        assert number is not None
        return number

    def update_run(
        self,
        run: int,
        *,
        threads: int | None = None,
        hint: Hint | None = None,
        bound: int | None = None,
        notes: str | None = None,
        totals: Mapping[str, int] | None = None,
        ended: bool = False,
    ) -> None:
        """Note how a run goes on; what is not given stays."""
        with self._guarded():
            self._connection.execute(
                "UPDATE run SET threads = coalesce(?, threads), hint = coalesce(?, hint), "
                "bound = coalesce(?, bound), notes = coalesce(?, notes), "
                "totals = coalesce(?, totals), ended = coalesce(?, ended) WHERE id = ?",
                (
                    threads,
                    None if hint is None else str(hint),
                    bound,
                    notes,
                    None if totals is None else json.dumps(dict(totals)),
                    time.time() if ended else None,
                    run,
                ),
            )

    def programs(self) -> tuple[Known, ...]:
        """All that is known, newest sample first."""
        with self._guarded():
            rows = self._connection.execute(
                "SELECT program, path, threads, sample, tier, sampled_at, hint, policy "
                "FROM behaviour JOIN program ON key = program ORDER BY sampled_at DESC, threads"
            ).fetchall()
            return tuple(_known(row) for row in rows)

    def runs(self, limit: int = 20) -> tuple[RunRecord, ...]:
        """The latest runs, newest first."""
        with self._guarded():
            rows = self._connection.execute(
                "SELECT id, program, pid, started, ended, tier, threads, hint, bound, notes, "
                "totals FROM run ORDER BY id DESC LIMIT ?",
                (limit,),
            ).fetchall()
            return tuple(_run(row) for row in rows)

    def rebuild_due(self, growth_share: float = 0.2) -> bool:
        """Whether what can be learned from has grown by `growth_share` since the last rebuild.

        Only observations with hardware counters count; the first rebuild waits for ten.
        """
        built = int(self._meta("rows_at_build") or 0)
        rows = self._rows()
        if built == 0:
            return rows >= _FIRST_BUILD_ROWS
        return rows >= built * (1 + growth_share)

    def mark_built(self) -> None:
        """Note that a policy was built from what is there now, or that it was tried in vain."""
        rows = self._rows()
        with self._guarded():
            self._connection.execute(
                "INSERT INTO meta VALUES ('rows_at_build', ?) "
                "ON CONFLICT DO UPDATE SET value = excluded.value",
                (str(rows),),
            )

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold off all other writers: for a file that is made of the database."""
        with self._guarded(), self._transaction():
            yield

    def _rows(self) -> int:
        with self._guarded():
            if not self._has_observations():
                return 0
            return int(
                self._connection.execute(
                    "SELECT count(*) FROM observation WHERE tier = ?", (_LEARNABLE,)
                ).fetchone()[0]
            )

    def _has_observations(self) -> bool:
        """False for a database of schema 1 that was opened for reading only."""
        found = self._connection.execute(
            "SELECT 1 FROM sqlite_master WHERE name = 'observation'"
        ).fetchone()
        return found is not None

    def _meta(self, name: str) -> str | None:
        with self._guarded():
            row = self._connection.execute(
                "SELECT value FROM meta WHERE name = ?", (name,)
            ).fetchone()
        return str(row[0]) if row else None

    def _remember_program(self, key: str, path: str) -> None:
        self._connection.execute(
            "INSERT INTO program VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET path = excluded.path",
            (key, path, time.time()),
        )

    def _check(self, read_only: bool) -> None:
        version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"the behaviour database {self.path} has schema {version} and this autofinity "
                f"knows up to {SCHEMA_VERSION}; update autofinity or give another --db"
            )
        if read_only:
            if version == 0:
                # Another process is just making it: for a reader it is empty, and an empty one in
                # memory answers every question.
                self._connection.close()
                self._connection = sqlite3.connect(":memory:", isolation_level=None)
                self._connection.executescript(_SCHEMA + _SCHEMA_2)
            return
        self._connection.execute("PRAGMA journal_mode = WAL")
        # NORMAL may lose the last commits when the machine (not the monitor) dies, and corrupts
        # nothing: right for observations that can be made again.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("PRAGMA foreign_keys = ON")
        if version < SCHEMA_VERSION:
            with self._transaction():
                # Another process may have made it while we waited for the lock.
                version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
                schemas = (_SCHEMA, _SCHEMA_2)[version:]
                for statement in ";".join(schemas).split(";"):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError) as error:  # ValueError: a row that is no JSON, no hint
            raise StoreError(
                f"the behaviour database {self.path} cannot be used: {error}; programs run without "
                "it. If it is damaged, move it away to begin anew"
            ) from error


def _known(row: tuple[str, str, int, str, str, float, str | None, str | None]) -> Known:
    program, path, threads, sample, tier, sampled_at, hint, policy = row
    values = json.loads(sample)
    return Known(
        program,
        path,
        threads,
        {name: float(value) for name, value in values.items()},
        tier,
        sampled_at,
        Hint.parse(hint) if hint else None,
        policy,
    )


def _observation(row: tuple[int, str, int, str, str, str, str]) -> LiveObservation:
    run, program, threads, affinity, machine, sample, tier = row
    values = {name: float(value) for name, value in json.loads(sample).items()}
    return LiveObservation(run, program, threads, Affinity.parse(affinity), machine, values, tier)


def _run(row: tuple[object, ...]) -> RunRecord:
    values = dict(zip(RunRecord.__dataclass_fields__, row, strict=True))
    values["totals"] = json.loads(str(values["totals"]))
    return RunRecord(**values)  # type: ignore[arg-type]


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))
