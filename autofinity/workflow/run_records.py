"""Runs in the behaviour database: an explanation of one run, and the state of all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autofinity.foreign_text import one_line
from autofinity.linux.online import whole_machine
from autofinity.linux.pins import PIN_VARIABLES, other_pins
from autofinity.linux.proc import environment_of
from autofinity.model.errors import AutofinityError, StoreError, UsageError
from autofinity.model.policy import RulePolicy
from autofinity.model.timeline import TimelineStep
from autofinity.private_file import read_private
from autofinity.runtime.claims import live_runs, process_of
from autofinity.runtime.policies import digest_of
from autofinity.runtime.threads_now import ThreadNow, cpus_of, threads_now
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import default_path
from autofinity.store.behaviour_rows import Known, LiveObservation, RunRecord
from autofinity.store.rebuild_mark import RebuildMark
from autofinity.store.short_run import SHORT_S, ShortRun, latest_short_run
from autofinity.store.spool import Spool

LAST = "last"
"""Name of the latest run."""
_MOST_DIGITS = 20
_MOST_LOST = 5


@dataclass(frozen=True, slots=True)
class RunNow:
    """A run from the record, with its present state in the kernel."""

    run: RunRecord
    alive: bool
    sample: Mapping[str, float]
    """Sample that decided its hint, in this run or in the run that the hint is known from."""
    known: bool
    """Whether the hint was known when the run began."""
    threads: tuple[ThreadNow, ...]
    others: tuple[str, ...]
    """Other authorities that limit where the run executes, one line each."""
    observed: tuple[LiveObservation, ...] = ()
    """Its behaviour in each affinity that it was watched in, oldest first."""
    looks: tuple[TimelineStep, ...] = ()
    """Looks at its threads, in order of time; empty for an older run."""


@dataclass(frozen=True, slots=True)
class Status:
    """Content of the record."""

    database: Path
    known: tuple[Known, ...] = ()
    """Known programs."""
    live: tuple[RunRecord, ...] = ()
    runs: tuple[RunRecord, ...] = ()
    """The latest runs."""
    rebuild_due: bool = False
    lost: tuple[str, ...] = ()
    """Lines on data that monitors could not store."""
    waiting: Mapping[str, int] = field(default_factory=dict)
    """Number of finished runs that wait to be sent, by the name of their site."""
    damage: StoreError | None = None
    """Error to raise in the end when damaged rows were left out."""


def database_named(db: Path | None) -> Path:
    """The given database, or the one in the state folder. Raises `StoreError` where there is
    none.
    """
    path = db or default_path()
    if not os.path.lexists(path):
        raise StoreError(
            f"there is no behaviour database at {path}; `autofinity run -- PROGRAM` makes it, if "
            f"PROGRAM runs for {SHORT_S} s or more"
        )
    return path


def status(db: Path | None, latest: int) -> Status:
    """Status of the given database, or of the one in the state folder, which may not exist yet.

    Raises `StoreError`.
    """
    path = db or default_path()
    lost = lost_lines(path)[-_MOST_LOST:]
    if db is None and not path.exists():
        return Status(path, lost=lost)
    with BehaviourDB.open(path, read_only=True) as database:
        return Status(
            path,
            database.programs(),
            live_runs(database),
            database.runs(latest),
            RebuildMark(database.session).due(),
            lost,
            Spool(database.session).waiting_count(),
            database.damage,
        )


def run_now(text: str, db: Path) -> RunNow:
    """The run with this number, or the `LAST` one. Raises `UsageError` for an unknown number, and
    `StoreError`, also where no run is on record, or the last one was too short for that.
    """
    with BehaviourDB.open(db, read_only=True) as database:
        run = next(iter(database.runs(1)), None) if text == LAST else _numbered(text, database)
        if run is None:
            if database.damage is not None:
                raise database.damage
            if text == LAST:
                _refuse_earlier(None, latest_short_run(db))
                raise StoreError(_none_on_record(db))
            raise UsageError(f"there is no run {text} in {db}; `autofinity status` lists them")
        if text == LAST:
            _refuse_earlier(run, latest_short_run(db))
        alive = run.ended is None and process_of(run).alive
        sample, known = run.sample, False
        if run.hint and not run.sample:
            rows = (
                row.sample
                for row in database.programs()
                if (row.program, row.threads) == (run.program, run.threads)
            )
            sample = next(rows, {})
            known = bool(sample)  # an answer without any sample was asked for no counter
        others = _others(run, live_runs(database)) if alive else ()
        threads = threads_now(run, database.masks.of_run(run.id)) if alive else ()
        observed = tuple(each for each in database.observations() if each.run == run.id)
        looks = database.looks.of_run(run.id)
    return RunNow(run, alive, sample, known, threads, others, observed, looks)


def _none_on_record(db: Path) -> str:
    lost = lost_lines(db)
    if lost:
        return (
            f"no run is on record in {db}, for its rows could not be stored: {one_line(lost[-1])}"
        )
    return f"no run is on record in {db} yet; `autofinity run -- APP` makes one"


def _refuse_earlier(run: RunRecord | None, short: ShortRun | None) -> None:
    """Raise `StoreError` where a run that is not on record is later than the last one that is."""
    if short is None or (run is not None and short.ended < run.started):
        return
    earlier = (
        "no earlier run is on record"
        if run is None
        else f"`autofinity explain {run.id}` explains the last one on record, {run.path}"
    )
    raise StoreError(
        f"the last run, {one_line(short.path)} (pid {short.pid}), ended within {SHORT_S} s: "
        f"it was too short to be sampled, so there is nothing to explain; {earlier}"
    )


def _numbered(text: str, database: BehaviourDB) -> RunRecord | None:
    """The run with a number of any length; None where the text is no such number."""
    number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return database.run(int(text)) if number else None


def _others(run: RunRecord, live: tuple[RunRecord, ...]) -> tuple[str, ...]:
    environment = environment_of(run.pid, PIN_VARIABLES)
    # A damaged list says nothing about pins.
    started_with = cpus_of(run.allowed) or whole_machine()
    return (
        *other_pins(run.pid, environment, started_with),
        *(
            f"run {other.id} ({other.path}, pid {other.pid}) claims CPUs {other.cpus}"
            for other in live
            if other.id != run.id and other.cpus
        ),
    )


def policy_of(run: RunRecord) -> tuple[RulePolicy | None, str]:
    """The policy that decided, with facts of this machine, or the reason why it cannot be shown."""
    from autofinity.linux.online import sysfs_root
    from autofinity.linux.sysfs_topology import read_sysfs
    from autofinity.policy.files import load
    from autofinity.policy.on_machine import on_machine
    from autofinity.runtime.machine_facts import facts_here

    if not run.policy_path:
        return None, "no policy decided"
    path = Path(run.policy_path)
    try:
        if digest_of(path) != run.policy:
            return None, f"{path} has changed since this run was decided"
        here = facts_here(read_sysfs(sysfs_root()))(max(run.threads or 1, 1))
        return on_machine(load(path), here), ""
    except AutofinityError as error:
        return None, str(error)


def lost_lines(database: Path) -> tuple[str, ...]:
    """Lines of the log beside a database on rows that monitors could not store, oldest first."""
    try:
        log = read_private(database.with_name("monitor.log"))
    except OSError:
        return ()
    return tuple(log.decode("utf-8", "surrogateescape").splitlines())
