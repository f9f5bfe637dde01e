"""Programs of all kinds run under `run` as they do without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from live_masks import allowed, masks_of

type Runner = Any  # of conftest.py

HERE = Path(__file__).parent


POOL = "import multiprocessing as m; print(sum(m.Pool(2).map(abs, range(-9, 0))))"
FORKS = "i=0; while [ $i -lt 150 ]; do /bin/true & i=$((i+1)); done; wait; echo $i"


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ((sys.executable, "-c", POOL), b"45\n"),
        (("sh", "-c", FORKS), b"150\n"),
        (("sh", "-c", "exec printf 'other program'"), b"other program"),
    ],
    ids=["multiprocessing", "fork-heavy", "exec"],
)
def test_a_program_does_what_it_does_without_us(
    run: Runner, policy: Path, words: tuple[str, ...], output: bytes
) -> None:
    done = run("--policy", policy, "--bind", "core", "--", *words)
    assert (done.returncode, done.stdout) == (0, output)


def test_a_java_program_runs_as_it_does_without_us(
    run: Runner, policy: Path, tmp_path: Path
) -> None:
    java = shutil.which("java")
    if java is None:
        pytest.skip("no java here")
    plain = subprocess.run([java, "-version"], capture_output=True)
    done = run("--quiet", "--policy", policy, "--", java, "-version")
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)


def test_a_go_program_runs_as_it_does_without_us(run: Runner, policy: Path) -> None:
    go = shutil.which("go")  # itself written in Go, with threads of its own
    if go is None:
        pytest.skip("no go here")
    plain = subprocess.run([go, "help", "build"], capture_output=True)
    done = run("--quiet", "--policy", policy, "--bind", "core", "--", go, "help", "build")
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)


def test_a_static_binary_is_run_and_watched(run: Runner, tmp_path: Path, policy: Path) -> None:
    static = tmp_path / "spinner"
    built = subprocess.run(
        ["cc", "-O1", "-static", "-o", static, HERE / "spinner.c", "-lpthread"],
        capture_output=True,
    )
    if built.returncode:
        pytest.skip("no static C library here")
    with run.lasting("--policy", policy, "--sample-s", "0.3", "--", static, "2", "300"):
        assert run.eventually(lambda: run.placed()), run.last()
        found = run.last()
        assert found is not None and found.path == str(static)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="binding needs two CPUs")
def test_what_a_program_becomes_by_exec_is_placed_too(
    run: Runner, spinner: Path, policy: Path
) -> None:
    options = ("--policy", policy, "--bind", "core", "--sample-s", "0.3")
    with run.lasting(*options, "--", "sh", "-c", 'exec "$0" 2 300', spinner) as process:
        assert run.eventually(lambda: run.placed()), run.last()
        assert run.eventually(lambda: [len(mask) for mask in masks_of(process.pid)][1:] == [1, 1])


def test_blocked_system_calls_are_told_and_harm_nothing(
    run: Runner, spinner: Path, policy: Path, blocked: Path
) -> None:
    calls = "set_mempolicy,move_pages,perf_event_open,sched_setaffinity"
    try:
        subprocess.run([blocked, calls, "true"], check=True, capture_output=True)
    except subprocess.CalledProcessError:
        pytest.skip("seccomp filters are not permitted here")
    words = [blocked, calls, *run.command("--policy", policy, "--", "sh", "-c", "exit 37")]
    done = subprocess.run(words, env=run.env, capture_output=True)
    assert done.returncode == 37
    assert b"EPERM" in done.stderr or b"still starting" in done.stderr
    options = ("--policy", policy, "--bind", "core", "--sample-s", "0.3")
    words = [blocked, calls, *run.command(*options, "--", spinner, "2", "300")]
    process = subprocess.Popen(words, env=run.env, stderr=subprocess.DEVNULL)
    try:
        assert run.eventually(lambda: (found := run.placed()) and found.pid == process.pid), (
            run.last()
        )
        found = run.last()
        assert found is not None
        if len(allowed()) > 1:
            assert "EPERM" in found.notes
        assert set(masks_of(process.pid)) == {allowed()}
    finally:
        process.kill()
        process.wait()
