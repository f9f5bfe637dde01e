"""Files beside the database are its user's alone: made so, and taken only when they are."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from planted import plant

from autofinity.model.affinity import PACKED, SPREAD, Affinity
from autofinity.model.errors import LearningError
from autofinity.private_file import append_private, make, open_private, read_private
from autofinity.runtime.claims import write_claims
from autofinity.runtime.decisions import CachedDecision, read_decisions, write_decision
from autofinity.runtime.journal import Journal
from autofinity.runtime.rebuilding import start_rebuild_if_due
from autofinity.runtime.run_header import RunHeader
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.workflow.rebuild import rebuild
from autofinity.workflow.run_records import status

ONE = Affinity.parse("{1}")
DECISION = CachedDecision("k" * 64, 2, "p" * 64, "llc", "m", PACKED, "0-3", "0-1")


def claim(folder: Path) -> None:
    with BehaviourDB.open(folder / "db") as database:
        run = database.begin_run("k", "/bin/k", 1, "t", host="elsewhere 1", start_ticks=1)
        database.update_run(run, cpus="0-3")
        write_claims(database)


def log_loss(folder: Path) -> None:
    (folder / "db").write_bytes(b"garbage " * 100)
    (folder / "db").chmod(0o600)
    header = RunHeader("k", "/bin/k", os.getpid(), "t", 2, "p", "llc", "0-3")
    Journal(folder / "db", header).end({})


def learn(folder: Path) -> None:
    BehaviourDB.open(folder / "db").close()
    with pytest.raises((LearningError, OSError)):
        rebuild(database=folder / "db", output=folder / "policy.json")


def learn_later(folder: Path) -> None:
    with BehaviourDB.open(folder / "db") as database:
        run = database.begin_run("k", "/bin/k", 1, "hardware counters")
        for _ in range(10):
            database.remember_observation(run, "k", 1, ONE, "m", {}, "hardware counters")
    with pytest.MonkeyPatch.context() as instead:
        instead.setattr(os, "posix_spawn", lambda *_, **__: 0)
        instead.setattr(os, "nice", lambda _: 0)
        instead.setattr(os, "closerange", lambda *_: None)
        with suppress(OSError):
            start_rebuild_if_due(folder / "db")


# Name of the file → what writes it in a folder.
WRITERS: dict[str, Callable[[Path], object]] = {
    "decisions": lambda folder: write_decision(folder / "decisions", DECISION),
    "claims": claim,
    "monitor.log": log_loss,
    "rebuild.lock": learn,
    "rebuild.log": learn_later,
}


@pytest.mark.parametrize("umask", [0, 0o002, 0o777])
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_beside_the_database_is_private_whatever_the_umask(
    name: str, umask: int, tmp_path: Path
) -> None:
    old = os.umask(umask)
    try:
        WRITERS[name](tmp_path)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert all(each.stat().st_mode & 0o077 == 0 for each in tmp_path.iterdir())


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_written_through_a_planted_link(name: str, tmp_path: Path) -> None:
    target = tmp_path / "of somebody"
    target.write_text("as it was")
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / name).symlink_to(target)
    WRITERS[name](state)
    assert target.read_text() == "as it was"


@pytest.mark.parametrize("kind", ["another user's", "all may write", "a link", "a FIFO"])
def test_decisions_of_others_are_not_taken_over(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "decisions"
    write_decision(path, CachedDecision("x" * 64, 2, "p", "llc", "m", SPREAD, "0-3", "3"))
    plant(kind, path)
    write_decision(path, DECISION)
    assert read_decisions(path) == (DECISION,)
    info = path.lstat()
    assert stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid()
    assert stat.S_IMODE(info.st_mode) == 0o600


@pytest.mark.parametrize(
    "kind", ["another user's", "all may write", "a link", "a FIFO", "a folder"]
)
def test_a_log_of_others_is_neither_shown_nor_written(kind: str, tmp_path: Path) -> None:
    BehaviourDB.open(tmp_path / "db").close()
    log = tmp_path / "monitor.log"
    append_private(log, b"\x1b[31m lost\n", 100)
    assert status(tmp_path / "db", 1).lost == ("\x1b[31m lost",)
    plant(kind, log)
    assert status(tmp_path / "db", 1).lost == ()
    with pytest.raises(OSError):
        append_private(log, b"more\n", 100)


def test_a_log_that_has_grown_begins_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for line in (b"1" * 80, b"2" * 80, b"3" * 80):
        append_private(log, line, 100)
    assert log.read_bytes() == b"3" * 80


def test_a_private_file_is_never_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "file"
    append_private(path, b"text", 100)
    make(path)
    assert read_private(path) == b"text"
    os.close(open_private(path, os.O_WRONLY | os.O_TRUNC))
    assert read_private(path) == b""
