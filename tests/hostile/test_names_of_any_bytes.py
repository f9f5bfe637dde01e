"""Paths are bytes: what is no UTF-8 is recorded, found, explained and restored like any other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from compiled import compiled, launcher_of
from live_masks import allowed, masks_of
from live_run import Runner
from own_database import by_hand, filled
from permitted import needs_two_cpus

from autofinity.linux.identity import identity_of
from autofinity.model.errors import StoreError
from autofinity.runtime.journal import Journal
from autofinity.runtime.run_header import RunHeader
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.workflow.run_records import run_now, status

NAMES = [
    b"caf\xe9",
    b"\xff\xfe",
    b"new\nline",
    "\u65e5\u672c".encode(),
    b"\xed\xa0\x80",
    b"a b?*[#%",
]
SMOKE = Path(__file__).parents[1] / "smoke"


@pytest.mark.parametrize("name", NAMES)
def test_a_path_comes_back_as_the_bytes_it_was(name: bytes, tmp_path: Path) -> None:
    text = os.fsdecode(name)
    path = tmp_path / text
    with BehaviourDB.open(path) as database:
        number = database.begin_run("k", f"/bin/{text}", 1, "t", policy_path=f"/p/{text}")
        database.remember_sample("k", f"/bin/{text}", 2, {"ipc": 1.0}, "t")
        database.update_run(
            number, notes=f"the policy {text} is not used", policy_path=f"/q/{text}"
        )
    for read_only in (False, True):
        with BehaviourDB.open(path, read_only=read_only) as database:
            (run,), (known,) = database.runs(), database.programs()
        assert os.fsencode(run.path) == os.fsencode(known.path) == b"/bin/" + name
        assert os.fsencode(run.policy_path) == b"/q/" + name
        assert run.notes == f"the policy {text} is not used"
    with by_hand(path) as connection:
        assert connection.execute("SELECT CAST(path AS BLOB) FROM program").fetchone() == (
            b"/bin/" + name,
        )
    assert status(path, 1).runs == (run,)
    assert run_now("last", path).run == run


def test_a_path_is_the_same_in_every_locale(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from autofinity.store.behaviour_db import *;"
        "BehaviourDB.open(Path(sys.argv[1])).begin_run('k', sys.argv[2], 1, 't')"
    )
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
    latin = [name for name in known if name.lower().endswith(("iso88591", "iso-8859-1"))]
    for locale in ("C", "C.UTF-8", *latin[:1]):
        path = tmp_path / locale
        env = {**os.environ, "LC_ALL": locale}
        subprocess.run([sys.executable, "-c", code, path, b"/bin/caf\xe9"], env=env, check=True)
        with BehaviourDB.open(path) as database:
            assert os.fsencode(database.runs()[0].path) == b"/bin/caf\xe9"


def test_what_is_lost_with_such_a_name_is_logged(tmp_path: Path) -> None:
    db = tmp_path / os.fsdecode(b"\xff.db")
    db.write_bytes(b"garbage " * 100)
    path = os.fsdecode(b"/bin/\xff")
    Journal(db, RunHeader("k", path, 1, "t", 2, "p", "llc", "0-3")).end({})
    assert b"/bin/\xff (1): " in (tmp_path / "monitor.log").read_bytes()
    with pytest.raises(Exception, match="cannot be used"):
        status(db, 1)


@pytest.mark.parametrize("command", [["status"], ["status", "--json"], ["explain", "last"]])
def test_commands_tell_of_such_a_program(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.db")
    filled(path, os.getpid())
    with BehaviourDB.open(path) as database:
        me = identity_of(os.getpid())
        database.begin_run("k", os.fsdecode(b"/bin/\xff"), me.pid, "t", host=me.host)
    done = subprocess.run(
        [sys.executable, "-m", "autofinity", *command, "--db", path], capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""


@needs_two_cpus
def test_a_program_of_such_a_name_is_recorded_and_restored(tmp_path: Path) -> None:
    run = Runner.within(tmp_path, launcher_of(tmp_path))
    spinner = tmp_path / os.fsdecode(b"sp\xffin")
    shutil.copy(compiled([SMOKE / "spinner.c"], tmp_path / "spinner"), spinner)
    db = tmp_path / os.fsdecode(b"st\xe9te") / os.fsdecode(b"\xff.db")
    options = ("--db", db, "--hint", "SLP", "--bind", "core", "--", spinner, "2", "300")

    def placed() -> bool:
        with suppress(StoreError), BehaviourDB.open(db, read_only=True) as database:
            return any(found.phase == "placed" and found.bound for found in database.runs())
        return False  # the monitor is just making it

    with run.lasting(*options) as app:
        assert run.eventually(placed)
        assert [len(mask) for mask in masks_of(app.pid)][1:] == [1, 1]
        done = subprocess.run(
            [run.launcher, "restore", "--json", "--db", db], env=run.env, capture_output=True
        )
        assert done.returncode == 0, done.stderr
        (told,) = json.loads(done.stdout)
        assert (told["pid"], told["done"]) == (app.pid, 2)
        assert set(masks_of(app.pid)) == {allowed()}
