"""Whatever fails in us, the application runs, and one line says what was not done and why."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from live_masks import allowed, fake_sysfs

import autofinity
from autofinity.model.affinity import SPREAD
from autofinity.model.errors import PolicyError
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import load
from autofinity.policy.shipped import policy_path

type Runner = Any  # of conftest.py

HELLO = ("sh", "-c", "echo hello; exit 37")


def ran(done: subprocess.CompletedProcess[bytes]) -> bool:
    return done.returncode == 37 and done.stdout == b"hello\n"


def lines(done: subprocess.CompletedProcess[bytes], about: bytes) -> list[bytes]:
    return [line for line in done.stderr.splitlines() if about in line]


def terminate(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    assert process.wait(timeout=300) == -signal.SIGTERM


TWO_LINES = 200
"""Characters of two lines of a terminal."""


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--bind", "none"),
        ("--fallback", "few-sockets-shared-caches"),
        ("--hint", "few-sockets-shared-caches"),
        ("--policy", "any-machine"),
        ("--policy", "any-machine", "--fallback", "few-sockets-shared-caches", "--bind", "none"),
        ("--mechanism", "kmaf"),
        ("--mechanism", "kmaf", "--bind", "none"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("caches", [1, 2])
def test_a_healthy_run_says_one_line_what_decides_which_fits_two_lines_of_a_terminal(
    run: Runner, words: tuple[str, ...], caches: int, tmp_path: Path
) -> None:
    tree = fake_sysfs(tmp_path, cores_of_llc=1 << 12 if caches == 1 else 1)
    done = run(*words, "--", *HELLO, env=run.env | {"AUTOFINITY_SYSFS": str(tree)})
    assert ran(done)
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"autofinity: ")
    assert len(done.stderr.decode()) <= TWO_LINES


def test_an_explained_run_says_why_each_step_down(run: Runner) -> None:
    said = run("--explain", "--", *HELLO).stderr
    assert b"no memory sampling: " in said or b"still starting" in said


def test_quiet_says_nothing(run: Runner) -> None:
    assert run("--quiet", "--", *HELLO).stderr == b""
    assert run("--", *HELLO, env=run.env | {"AUTOFINITY_QUIET": "1"}).stderr == b""


@pytest.mark.parametrize("value", ["", "0"])
def test_quiet_is_said_by_the_environment_only_where_that_says_so(run: Runner, value: str) -> None:
    said = run("--explain", "--", *HELLO, env=run.env | {"AUTOFINITY_QUIET": value}).stderr
    assert said != b""


def test_what_is_no_policy_is_one_line(run: Runner, tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    policy.write_bytes(b"{")
    done = run("--policy", policy, "--", *HELLO)
    assert ran(done)
    assert len(lines(done, b"the policy is not used: ")) == 1
    assert done.stderr.count(b"\n") == 1


def damaged(policy: str) -> dict[str, str]:
    """A policy's text with one damage each."""
    return {
        "cut off": policy[:-40],
        "a version in words": policy.replace('"version": 7', '"version": "seven"'),
        "a newer version": policy.replace('"version": 7', '"version": 99'),
        "another format": "{}",
        "nothing": "",
    }


@pytest.mark.parametrize("kind", damaged(""))
def test_a_damaged_policy_is_refused_in_the_words_of_show(
    run: Runner, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "policy.json"
    path.write_text(damaged(policy_path("any-machine").read_text())[kind])
    with pytest.raises(PolicyError) as error:
        load(path)
    done = run("--policy", path, "--", *HELLO)
    assert ran(done)
    (said,) = done.stderr.decode().splitlines()
    assert said == (
        f"autofinity: the policy is not used: {error.value}; the program runs as the system places "
        "it"
    )


def test_what_the_monitor_cannot_read_decides_nothing_and_is_noted(
    run: Runner, spinner: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.json"
    whole = policy_path("any-machine").read_text()
    policy.write_text(whole.replace('"instructions"', '"no such counter"', 1))
    with run.lasting("--policy", policy, "--", spinner, "2", "300") as process:
        assert run.eventually(
            lambda: (now := run.last()) and "the policy is not used: " in now.notes
        )
        terminate(process)
    told = run("--dry-run", "--policy", policy, "--", *HELLO)
    assert told.returncode == 1
    assert len(lines(told, b"is not among the counters")) == 1


def test_a_missing_policy_a_folder_and_a_fifo_are_one_line(run: Runner, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "fifo"):
        done = run("--policy", path, "--", *HELLO)
        assert ran(done)
        assert len(lines(done, b"is not used")) == 1


def test_without_any_policy_one_line_says_so_and_masks_stay(
    run: Runner, spinner: Path, tmp_path: Path, compiled_launcher: Any
) -> None:
    tree = tmp_path / "tree"  # a source tree that ships no policy
    tree.mkdir()
    (tree / "autofinity").symlink_to(Path(autofinity.__file__).parent)
    without = replace(run, launcher=compiled_launcher(tree))

    env = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path, node_of_cpu=True))}
    with without.lasting("--", spinner, "2", "300", stderr=subprocess.PIPE, env=env) as process:
        assert process.stderr is not None
        assert run.eventually(lambda: without.last() is not None)
        terminate(process)
        said = process.stderr.read()
    assert said.startswith(b"autofinity: there is no policy for this machine: threads stay where ")
    several = len(allowed()) > 1
    for helps in (b"--policy NAME", b"train --machine host"):
        assert (helps in said) == several, "one cache leaves nothing for a policy to choose"
    assert said.count(b"\n") == 1
    assert run.eventually(lambda: (found := without.last()) is not None and found.ended)
    found = without.last()
    assert found.bound == 0
    assert "there is no policy for this machine: nothing is decided" in found.notes
    policies = tree / "policies"  # and now it ships some
    policies.mkdir()
    for another_machines in ("default.json", "opteron-6164he.json"):
        shutil.copy(_policy(tmp_path), policies / another_machines)
        assert b"there is no policy" in without("--", *HELLO).stderr
    shutil.copy(_policy(tmp_path), policies / "any-machine.json")
    assert b"the policy, shipped for any machine" in without("--", *HELLO).stderr


@pytest.mark.parametrize("name", ["venv", "my [venv]*\\"])
def test_an_installed_launcher_finds_the_policy_its_package_ships(
    name: str, run: Runner, tmp_path: Path, compiled_launcher: Any
) -> None:
    venv = tmp_path / name
    executable = venv / "bin" / "autofinity"
    executable.parent.mkdir(parents=True)
    shutil.copy(compiled_launcher(None), executable)
    installed = replace(run, launcher=executable)
    assert b"there is no policy" in installed("--", *HELLO).stderr
    package = venv / "lib" / "python3.13" / "site-packages" / "autofinity"
    policies = package / "share" / "policies"
    policies.mkdir(parents=True)
    (package / "own_python.py").touch()  # distinguishes the package from its files
    shutil.copy(_policy(tmp_path), policies / "acme.json")
    shutil.copy(_policy(tmp_path), policies / "any-machine.json")
    for words, chosen, origin in (
        (("--policy", "acme"), "acme", "named by --policy"),
        ((), "any-machine", "shipped for any machine"),
    ):
        done = installed("--explain", *words, "--", *HELLO)
        assert ran(done)
        expected = f"policy {policies.resolve()}/{chosen}.json, {origin}; ".encode()
        assert expected in done.stderr


def test_a_missing_python_is_one_line(run: Runner) -> None:
    done = run("--", *HELLO, env=run.env | {"AUTOFINITY_PYTHON": "/nowhere/python"})
    assert ran(done)
    assert len(lines(done, b"no monitor: no Python")) == 1


def test_a_python_that_is_named_from_this_folder_runs_the_monitor(run: Runner) -> None:
    python = Path(sys.executable)
    env = run.env | {"AUTOFINITY_PYTHON": f"./{python.name}"}
    assert run("--", "sleep", "0.5", env=env, cwd=python.parent).returncode == 0
    assert run.eventually(lambda: run.last() is not None)


def test_a_python_that_fails_harms_nothing(run: Runner) -> None:
    done = run(
        "--", "sh", "-c", "sleep 0.4; exit 37", env=run.env | {"AUTOFINITY_PYTHON": "/bin/false"}
    )
    assert done.returncode == 37


def test_a_database_that_is_none_is_one_line_and_left_alone(run: Runner) -> None:
    run.db.parent.mkdir(parents=True)
    run.db.write_bytes(b"garbage " * 100)
    done = run("--", *HELLO)
    assert ran(done)
    assert len(lines(done, b"it is damaged")) == 1
    assert run.db.read_bytes() == b"garbage " * 100


def test_a_database_in_a_folder_that_is_gone_is_one_line(run: Runner, tmp_path: Path) -> None:
    words = "mkdir gone; cd gone; rmdir ../gone; exec $0 run --db mine.db -- echo hello"
    done = subprocess.run(
        ["sh", "-c", words, run.launcher], capture_output=True, cwd=tmp_path, env=run.env
    )
    assert done.stdout == b"hello\n"
    (line,) = lines(done, b"database mine.db is not used")
    assert line.endswith(b"the present folder is gone, or the path is too long")


def test_a_database_from_a_newer_version_is_one_line_and_left_alone(run: Runner) -> None:
    run.db.parent.mkdir(parents=True)
    with sqlite3.connect(run.db) as database:
        database.execute("CREATE TABLE future (x)")
        database.execute("PRAGMA user_version = 99")
    database.close()
    before = run.db.read_bytes()
    done = run("--", *HELLO)
    assert ran(done)
    assert len(lines(done, b"schema 99")) == 1
    assert run.db.read_bytes() == before


def test_a_database_that_is_a_folder_or_full_device_is_one_line(
    run: Runner, tmp_path: Path
) -> None:
    for path in (tmp_path, Path("/dev/full")):
        done = run("--db", path, "--", *HELLO)
        assert ran(done)
        assert len(lines(done, b"behaviour database")) == 1


def test_a_read_only_database_is_one_line(run: Runner) -> None:
    run.db.parent.mkdir(parents=True)
    run.db.touch(mode=0o400)
    if os.access(run.db, os.W_OK):
        pytest.skip("this user may write everywhere")
    done = run("--", *HELLO)
    assert ran(done)
    assert len(lines(done, b"is not writable")) == 1


def test_no_state_folder_is_one_line(run: Runner) -> None:
    env = {k: v for k, v in run.env.items() if k not in ("HOME", "XDG_STATE_HOME")}
    done = run("--", *HELLO, env=env)
    assert ran(done)
    (line,) = lines(done, b"no state folder")
    assert line.startswith(b"autofinity: the behaviour database is not used: no state folder: ")


def test_a_locked_database_holds_nothing_up(run: Runner, spinner: Path, tmp_path: Path) -> None:
    run.db.parent.mkdir(parents=True)
    holder = sqlite3.connect(run.db, isolation_level=None)
    holder.execute("PRAGMA journal_mode = WAL")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with run.lasting("--policy", _policy(tmp_path), "--", spinner, "2", "300") as process:
            assert run.eventually(lambda: run.monitors_of(process.pid))
            terminate(process)
        assert run.eventually(lambda: not run.monitors_of(process.pid))
        log = run.db.with_name("monitor.log").read_text()
        assert "rows lost" in log and "locked" in log
    finally:
        holder.close()


def test_a_full_disk_holds_nothing_up(run: Runner, spinner: Path, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no permission to mount a small file system")
    try:
        (folder / "filler").write_bytes(b"x" * 8192)
        with run.lasting("--db", folder / "behaviour.db", "--", spinner, "2", "300") as process:
            assert run.eventually(lambda: run.monitors_of(process.pid))
            terminate(process)
        assert run.eventually(lambda: not run.monitors_of(process.pid))
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_too_few_descriptors_harm_nothing(run: Runner) -> None:
    done = subprocess.run(
        ["sh", "-c", 'ulimit -n 4; exec "$@"', "sh", *map(str, run.command("--", *HELLO))],
        env=run.env,
        capture_output=True,
    )
    assert ran(done)
    assert done.stderr.count(b"\n") == 1


def test_a_killed_monitor_harms_nothing(run: Runner, tmp_path: Path) -> None:
    command = ("--policy", _policy(tmp_path), "--", "sh", "-c", "read line; exit 37")
    with run.lasting(*command, stdin=subprocess.PIPE) as process:
        (monitor,) = run.eventually(lambda: run.monitors_of(process.pid))
        os.kill(monitor, signal.SIGKILL)
        assert run.eventually(lambda: not run.monitors_of(process.pid))
        process.communicate(b"go on\n", timeout=300)
    assert process.returncode == 37


def test_the_monitor_outlives_signals_that_a_batch_system_sends_to_a_whole_job(
    run: Runner, tmp_path: Path
) -> None:
    command = ("--policy", _policy(tmp_path), "--", "sh", "-c", "read line")
    with run.lasting(*command, stdin=subprocess.PIPE) as process:
        (monitor,) = run.eventually(lambda: run.monitors_of(process.pid))
        assert run.eventually(run.last)  # it watches
        for number in ("HUP", "INT", "QUIT", "USR1", "USR2"):
            os.kill(monitor, signal.Signals[f"SIG{number}"])
        time.sleep(0.3)
        assert run.monitors_of(process.pid) == [monitor]
        process.communicate(b"go on\n", timeout=300)
    assert run.eventually(lambda: (last := run.last()) is not None and last.ended)
    assert run.eventually(lambda: not run.monitors_of(process.pid))


def test_a_program_with_more_rights_is_left_alone(run: Runner, tmp_path: Path) -> None:
    program = tmp_path / "true"
    shutil.copy("/bin/true", program)
    try:
        os.chown(program, 65534 - (os.geteuid() == 65534), -1)
    except PermissionError:
        pytest.skip("only root can make a setuid program of another user")
    program.chmod(0o4755)
    done = run("--", program)
    assert done.returncode == 0
    assert len(lines(done, b"neither measured nor bound")) == 1


def test_a_decision_cache_full_of_nonsense_binds_nothing(run: Runner, tmp_path: Path) -> None:
    run.db.parent.mkdir(parents=True)
    cache = run.db.with_name("decisions")
    policy = _policy(tmp_path)
    for content in ("", "autofinity-decisions 1\n", "autofinity-decisions 2\n" + "x " * 100_000):
        cache.write_text(content)
        done = run("--policy", policy, "--threads", "2", "--", *HELLO)
        assert ran(done)
        assert not lines(done, b"bound to CPUs")


def _policy(folder: Path) -> Path:
    from autofinity.policy.files import save

    path = folder / "policy.json"
    save(RulePolicy((), {}, (), SPREAD), path)
    assert json.loads(path.read_text())["default"] == "SLP"
    return path


def test_a_dash_is_no_database(run: Runner, tmp_path: Path) -> None:
    words = [run.launcher, "run", "--db", "-", "--", "true"]
    done = subprocess.run(words, env=run.env, capture_output=True, cwd=tmp_path)
    assert done.returncode == 2
    assert b"wrong value for --db '-'" in done.stderr
    assert list(tmp_path.glob("-*")) == []
