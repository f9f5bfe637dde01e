"""A database is believed when it is its user's alone, and a process when it is what it says."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import autofinity
from own_database import by_hand, filled
from planted import NOBODY, plant, plant_way

from autofinity.linux.identity import identity_of, owners_of
from autofinity.model.errors import CapabilityError, StoreError
from autofinity.runtime.claims import live_runs
from autofinity.runtime.monitor_process import is_monitor, watches
from autofinity.runtime.restore import restore
from autofinity.store.behaviour_db import BehaviourDB

CASES = tomllib.loads((Path(__file__).parents[1] / "support/twin_cases.toml").read_text())[
    "databases"
]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["planted"])
def test_a_database_that_others_could_have_written_is_neither_read_nor_written(
    case: dict[str, str], tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    path = tmp_path / "state" / "behaviour.db"
    filled(path, sleeper.pid)
    plant(case["planted"], path)
    before = {each.name: each.lstat().st_mtime_ns for each in path.parent.iterdir()}
    for read_only in (False, True):
        with pytest.raises(StoreError) as told:
            BehaviourDB.open(path, read_only=read_only)
        assert case["flaw"] in str(told.value)
    assert {each.name: each.lstat().st_mtime_ns for each in path.parent.iterdir()} == before


@as_root
def test_root_restores_by_no_other_users_database(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    path = tmp_path / "theirs" / "behaviour.db"
    with subprocess.Popen(["sleep", "300"]) as victim:
        filled(path, sleeper.pid, identity_of(victim.pid))
        with by_hand(path) as connection:
            connection.execute("UPDATE mask SET before = '0'")
        for each in (path.parent, *path.parent.iterdir()):
            plant("another user's", each)
        before = os.sched_getaffinity(sleeper.pid)
        done = autofinity("restore", "--db", str(path), code=1)
        assert "it is another user's (uid 65534)" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert victim.poll() is None and os.sched_getaffinity(sleeper.pid) == before
        victim.kill()


COMMANDS = {
    "attach": ("attach", "PID", "--hint", "SLP"),
    "rebuild": ("rebuild",),
    "status": ("status",),
    "top": ("top", "--once"),
    "restore": ("restore",),
}
HOMES = {
    "a state folder of theirs": [".local", ".local/state", ".local/state/autofinity"],
    "a folder of theirs above it": [".local"],
    "a database of theirs": [
        ".local",
        ".local/state",
        ".local/state/autofinity",
        ".local/state/autofinity/behaviour.db",
    ],
}


def home_of_nobody(home: Path, names: list[str]) -> dict[str, str]:
    """The environment of a command with that HOME."""
    for each in (home, *(home / name for name in names)):
        each.touch() if each.suffix else each.mkdir()
        os.chown(each, NOBODY, NOBODY)
    env = {name: text for name, text in os.environ.items() if not name.startswith("XDG_")}
    return {**env, "HOME": str(home)}


def owners_below(folder: Path) -> set[int]:
    return {each.lstat().st_uid for each in folder.rglob("*")}


@as_root
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("home", HOMES)
def test_root_leaves_nothing_in_another_users_home(
    command: str, home: str, tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    env = home_of_nobody(tmp_path / "nb", HOMES[home])
    words = [word.replace("PID", str(sleeper.pid)) for word in COMMANDS[command]]
    done = subprocess.run(
        [sys.executable, "-m", "autofinity", *words],
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "internal error of autofinity" not in done.stderr
    if command == "attach" or home == "a database of theirs":
        assert done.returncode == 1
        assert "is not used: its folder is not private" in done.stderr
    assert owners_below(tmp_path / "nb") == {NOBODY}


@as_root
@pytest.mark.parametrize("home", HOMES)
def test_a_run_of_root_leaves_nothing_in_another_users_home(home: str, tmp_path: Path) -> None:
    launcher = Path(sys.executable).with_name("autofinity")
    env = home_of_nobody(tmp_path / "nb", HOMES[home])
    done = subprocess.run(
        [launcher, "run", "--hint", "SLP", "--", "sleep", "1"],
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "is not used: its folder is not private" in done.stderr
    assert owners_below(tmp_path / "nb") == {NOBODY}


@as_root
def test_root_follows_no_link_of_others_to_a_state_folder(tmp_path: Path) -> None:
    env = home_of_nobody(tmp_path / "nb", [".local"])
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o700)
    link = tmp_path / "nb" / ".local" / "state"
    link.symlink_to(mine)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    launcher = Path(sys.executable).with_name("autofinity")
    done = subprocess.run(
        [launcher, "run", "--hint", "SLP", "--", "sleep", "1"],
        env=env,
        capture_output=True,
        text=True,
    )
    assert "a link to it is another user's (uid 65534)" in done.stderr
    assert list(mine.iterdir()) == []


@as_root
def test_a_rebuild_leaves_no_lock_beside_another_users_database(tmp_path: Path) -> None:
    folder = plant_way(["their folder"], tmp_path)
    (folder / "behaviour.db").touch()
    done = autofinity("rebuild", "--db", str(folder / "behaviour.db"), code=1)
    assert "is not used: its folder is not private" in done.stderr
    assert [each.name for each in folder.iterdir()] == ["behaviour.db"]


def test_a_fault_is_reported_in_no_folder_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autofinity.cli.fault_report import keep_report

    theirs = plant_way(["their folder"], tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(theirs))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert f"the report is kept in {tmp_path}/fault-" in keep_report(ValueError("x"))
    assert list(theirs.iterdir()) == []


def test_what_is_no_monitor_is_not_ended(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    path = tmp_path / "db"
    with subprocess.Popen(["sleep", "300"]) as other:
        filled(path, sleeper.pid, identity_of(other.pid))
        with BehaviourDB.open(path) as database:
            (run,) = live_runs(database)
            with pytest.raises(CapabilityError, match=f"process {other.pid}, recorded as"):
                restore(database, run)
            (run,) = live_runs(database)
            assert run.phase != "restored"
        assert other.poll() is None
        other.kill()


def test_a_monitor_of_another_run_is_none_of_this_one(sleeper: subprocess.Popen[bytes]) -> None:
    # An interpreter with the arguments of a monitor, as the launcher starts it.
    code = "import time; print('begun', flush=True); time.sleep(300)"
    words = [sys.executable, "-c", code, "-m", "autofinity.runtime.monitor"]
    words += ["--pid", str(sleeper.pid)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as monitor:
        assert monitor.stdout is not None and monitor.stdout.readline()
        assert is_monitor(monitor.pid, sleeper.pid)
        assert not is_monitor(monitor.pid, sleeper.pid + 1)
        monitor.kill()
    assert not is_monitor(sleeper.pid, sleeper.pid)
    assert not is_monitor(monitor.pid, sleeper.pid)  # gone


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("python -P -B -m autofinity.runtime.monitor --pid 7 --pidfd 3", True),
        ("python -I -B /x/own_python.py autofinity.mechanisms.monitor --pid 7", True),
        ("python /x/bin/autofinity-cli attach --hint SLP 7", True),
        ("python -m autofinity attach 7", True),
        ("python -m autofinity.runtime.monitor --pid 70 --threads 7", False),
        ("python -m autofinity.runtime.monitor", False),
        ("python autofinity.runtime.monitor --pid 7", False),
        ("python -m autofinity status --runs 7", False),
        ("python /x/bin/autofinity-cli restore 7", False),
        ("python train.py 7", False),
        ("", False),
    ],
)
def test_the_arguments_of_a_monitor_are_known(words: str, expected: bool) -> None:
    assert watches(words.encode().split(), 7) is expected


def test_masks_go_to_processes_of_the_databases_owner_alone(
    tmp_path: Path, sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "db"
    filled(path, sleeper.pid)
    assert set(owners_of(sleeper.pid)) == {os.geteuid()}
    with BehaviourDB.open(path) as database:
        (run,) = live_runs(database)
        with monkeypatch.context() as other:
            other.setattr(os, "geteuid", lambda: NOBODY - 1)  # nobody may run this test
            assert restore(database, run).refused == {"another user's process": 1}
        assert restore(database, run).refused == {}


def test_what_is_made_is_private_whatever_the_umask(tmp_path: Path) -> None:
    for umask in (0, 0o777):
        folder = tmp_path / f"above-{umask}" / "state"
        old = os.umask(umask)
        try:
            filled(folder / "behaviour.db", os.getpid())
        finally:
            os.umask(old)
        for made in (folder.parent, folder):
            assert stat.S_IMODE(made.stat().st_mode) & 0o077 == 0
        assert stat.S_IMODE((folder / "behaviour.db").stat().st_mode) == 0o600
