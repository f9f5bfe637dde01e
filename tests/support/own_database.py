"""Behaviour databases with content for tests."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autofinity.linux.identity import ProcessIdentity, identity_of
from autofinity.linux.proc import tasks_of
from autofinity.model.affinity import PACKED, Affinity
from autofinity.model.answer_on_record import AnswerOnRecord
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.timeline import TimelineStep
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import MaskRecord

KEY = "k" * 64
"""Key of the program on record."""


def filled(path: Path, pid: int, monitor: ProcessIdentity | None = None) -> int:
    """A database with a record of a live run of `pid`, watched by `monitor`, and with every table
    in use, as if each thread's current mask had been set for the run. Returns the number of the
    run.
    """
    process = identity_of(pid)
    now = format_cpu_list(frozenset(os.sched_getaffinity(pid)))  # type: ignore[arg-type]
    with BehaviourDB.open(path) as database:
        database.remember_sample(KEY, "/bin/k", 2, {"ipc": 0.5}, "software events")
        database.remember_answer(KEY, 2, AnswerOnRecord(PACKED), "p")
        run = database.begin_run(
            KEY,
            "/bin/k",
            pid,
            "software events",
            host=process.host,
            start_ticks=process.start_ticks,
            monitor_pid=monitor.pid if monitor else 0,
            monitor_ticks=monitor.start_ticks if monitor else 0,
            allowed="0-65535",
        )
        database.update_run(run, threads=2, hint=PACKED, bound=2, cpus=now, sample={"ipc": 0.5})
        database.masks.remember(
            run,
            [MaskRecord(task.tid, task.started, "0-65535", now) for task in tasks_of(pid)],
        )
        affinity = Affinity.parse("{2}")
        database.remember_observation(run, KEY, 2, affinity, "m", {"ipc": 0.5}, "t")
        look = TimelineStep(0, 10**9, {0: {"instructions": 1e9}}, place="{2}")
        database.looks.remember(run, (look,))
    return run


@contextmanager
def by_hand(path: Path) -> Iterator[sqlite3.Connection]:
    """Changes a database in ways that no program of ours would."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()
