"""A running program is watched and placed, and gets back the masks it had; it never notices."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from live_masks import allowed, masks_of
from live_run import preferred
from permitted import needs_two_cpus

from autofinity.runtime.attaching import request_for
from autofinity.runtime.by_policy import by_policy
from autofinity.runtime.request import Request
from autofinity.runtime.surroundings import Deciding, Surroundings
from autofinity.runtime.watching import watch
from autofinity.store.behaviour_db import BehaviourDB

type Runner = Any  # of conftest.py


def command(run: Runner, *words: str | Path) -> list[str]:
    return [str(run.launcher), *map(str, words)]


def asked(run: Runner, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(run, *words), env=run.env, capture_output=True, text=True)


def single(pid: int) -> bool:
    """Whether the two computing threads have a CPU each."""
    return [len(mask) for mask in masks_of(pid)][1:] == [1, 1]


@contextmanager
def program(*words: str | Path, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([*map(str, words)], **options) as process:
        try:
            yield process
        finally:
            process.kill()


@needs_two_cpus
def test_an_attached_program_is_placed_left_and_restored(
    run: Runner, spinner: Path, policy: Path
) -> None:
    words = command(run, "attach", "--policy", policy, "--bind", "core", "--period", "0.3s")
    with preferred(), program(spinner, "2", "300") as app:
        with program(*words, str(app.pid), env=run.env, stderr=subprocess.PIPE) as watcher:
            assert run.eventually(lambda: run.placed() and single(app.pid))
            again = asked(run, "attach", str(app.pid))
            assert again.returncode == 2
            assert "is watched already (run 1)" in again.stderr
            watcher.send_signal(signal.SIGINT)
            _, said = watcher.communicate(timeout=600)
        assert watcher.returncode == 0, said
        assert b"no longer watched" in said
        assert app.poll() is None and single(app.pid)  # it goes on where it was placed
        assert json.loads(asked(run, "status", "--json").stdout)["running"] == [1]
        put_back = asked(run, "restore", str(app.pid))
        assert put_back.returncode == 0, put_back.stderr
        assert "2 threads restored" in put_back.stdout
        assert set(masks_of(app.pid)) == {allowed()}
        assert app.poll() is None


@needs_two_cpus
def test_restore_ends_the_monitor_and_keeps_what_others_pinned(
    run: Runner, spinner: Path, policy: Path
) -> None:
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")
    with run.lasting(*options, "--", spinner, "2", "300") as app:
        assert run.eventually(lambda: run.placed() and single(app.pid))
        tids = sorted(map(int, os.listdir(f"/proc/{app.pid}/task")))
        elsewhere = allowed() - os.sched_getaffinity(tids[1])
        os.sched_setaffinity(tids[1], elsewhere)  # somebody else pins the first worker
        done = asked(run, "restore", "--json")
        assert done.returncode == 0, done.stderr
        (told,) = json.loads(done.stdout)
        assert (told["done"], told["pinned"]) == (1, 1)
        assert not run.monitors_of(app.pid)
        assert masks_of(app.pid) == [allowed(), elsewhere, allowed()]
        found = run.last()
        assert found is not None and (found.phase, found.cpus) == ("restored", "")


@needs_two_cpus
def test_who_attaches_after_a_killed_monitor_takes_over_its_masks(
    run: Runner, spinner: Path, policy: Path
) -> None:
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")
    with run.lasting(*options, "--", spinner, "2", "300") as app:
        assert run.eventually(lambda: run.placed() and single(app.pid))
        (monitor,) = run.monitors_of(app.pid)
        os.kill(monitor, signal.SIGKILL)
        assert run.eventually(lambda: not run.monitors_of(app.pid))
        words = command(run, "attach", *options, "--restore", str(app.pid))
        with program(*words, env=run.env, stderr=subprocess.PIPE) as watcher:
            second = lambda: (found := run.last()) is not None and found.id == 2  # noqa: E731
            assert run.eventually(lambda: second() and run.placed())
            found = run.last()
            assert found is not None and "pinned" not in found.notes
            watcher.terminate()
            _, said = watcher.communicate(timeout=600)
        assert watcher.returncode == 0, said
        assert b"masks of 2 threads are restored" in said
        assert set(masks_of(app.pid)) == {allowed()}


def test_what_cannot_be_attached_to_is_one_clear_line(run: Runner) -> None:
    with program("sleep", "0") as gone:
        gone.wait()
    cases = {str(gone.pid): "there is no process", "0": "expected a pid, the number of a process"}
    if os.geteuid() == 0:
        cases["2"] = "no kernel thread"  # kthreadd
    else:
        cases["1"] = "another user's"
    for pid, reason in cases.items():
        done = asked(run, "attach", pid)
        assert done.returncode != 0
        assert reason in done.stderr, done.stderr
        assert "Traceback" not in done.stderr


def test_nothing_to_restore_is_said(run: Runner) -> None:
    run.db.parent.mkdir(parents=True)
    BehaviourDB.open(run.db).close()
    assert "no running program has masks to restore" in asked(run, "restore").stdout
    done = asked(run, "restore", "1")
    assert done.returncode == 2
    assert "no live run of process 1" in done.stderr


def test_a_program_that_ends_before_its_first_look_was_watched_to_its_end(tmp_path: Path) -> None:
    """However slow this machine is: the program ends once its run is on record."""
    with program("sleep", "300") as app, BehaviourDB.open(tmp_path / "runs.db") as database:

        def make_late(request: Request, around: Surroundings) -> Deciding[Any]:
            app.kill()
            app.wait()
            return by_policy(request, around)

        watch(request_for(app.pid, database), make_late)
        (found,) = database.runs()
        assert found.phase == "ended", found.notes
