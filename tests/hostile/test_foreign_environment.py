"""The application's Python, libraries and variables are not ours, and stay its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from compiled import compiled
from live_run import Runner

from autofinity.own_python import own_python_script

COMMANDS = {
    "in Python alone": ("machines",),
    "with the native core": ("hints", "-t", "2", "--machine", "opteron-6164he"),
    "with hwloc": ("topology", "--machine", "synthetic:pack:1 l3:1 core:2 pu:1"),
    "on this machine": ("topology", "--machine", "host"),
}
ENVIRONMENTS = {
    "another Python": {"PYTHONHOME": "/nowhere"},
    "packages of the same names": {"PYTHONPATH": "FOLDER"},
    "libraries of the same names": {"LD_LIBRARY_PATH": "FOLDER"},
    "all of it, as HPC modules set it": {
        "PYTHONHOME": "FOLDER",
        "PYTHONPATH": "FOLDER:FOLDER/lib",
        "PYTHONSTARTUP": "FOLDER/click.py",
        "PYTHONWARNINGS": "error",
        "LD_LIBRARY_PATH": "FOLDER",
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Modules and libraries of names that ours import, all of them broken."""
    folder = tmp_path_factory.mktemp("modules")
    for name in ("click", "json", "numpy", "pathlib", "autofinity", "pyhwloc", "sitecustomize"):
        (folder / f"{name}.py").write_text("raise SystemExit('a module of the application')")
    empty = folder / "empty.c"
    empty.write_text("")
    for name in ("libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "libffi.so.8", "libhwloc.so.15"):
        compiled([empty], folder / name, "-shared", "-fPIC")
    return folder


def variables(name: str, folder: Path) -> dict[str, str]:
    return {key: text.replace("FOLDER", str(folder)) for key, text in ENVIRONMENTS[name].items()}


def said(run: Runner, *arguments: str | Path, env: Mapping[str, str]) -> str:
    done = subprocess.run(
        [run.launcher, *arguments], env={**run.env, **env}, capture_output=True, timeout=600
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return done.stdout.decode()


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_does_what_it_does_without(
    run: Runner, folder: Path, command: str, environment: str
) -> None:
    plain = said(run, *COMMANDS[command], env={})
    assert said(run, *COMMANDS[command], env=variables(environment, folder)) == plain


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_monitor_watches(run: Runner, folder: Path, environment: str) -> None:
    env = {**run.env, **variables(environment, folder)}
    with run.lasting("--quiet", "--", "sleep", "300", env=env) as process:
        assert run.eventually(lambda: (found := run.last()) and found.pid == process.pid)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_program_that_detect_starts_has_its_own_environment(
    run: Runner, folder: Path, tmp_path: Path, environment: str
) -> None:
    out = tmp_path / "env"
    env = variables(environment, folder) | {"MALLOC_ARENA_MAX": "3"}
    words = ("detect", "--", "sh", "-c", f"cat /proc/$$/environ > {out}")
    done = subprocess.run(
        [run.launcher, *words], env={**run.env, **env}, capture_output=True, timeout=600
    )
    if b"perf_event_open" in done.stderr:
        pytest.skip("page faults cannot be watched here")
    assert done.returncode == 0, done.stderr
    found = dict(entry.split("=", 1) for entry in out.read_text().split("\0") if entry)
    assert found == {**run.env, **env}


def test_the_assembler_of_captured_builds_gives_the_real_one_its_environment(
    folder: Path, tmp_path: Path
) -> None:
    real, ours = tmp_path / "real", tmp_path / "as"
    real.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH|$PYTHONHOME|${LD_PRELOAD-unset}"\n')
    ours.write_text(own_python_script("autofinity.capture.assembly.assembler", str(real)))
    for script in (real, ours):
        script.chmod(0o755)
    env = {**os.environ, "PYTHONHOME": "/nowhere", "LD_LIBRARY_PATH": str(folder)}
    env.pop("LD_PRELOAD", None)
    done = subprocess.run([ours, "-o", "/dev/null"], env=env, input=b"", capture_output=True)
    assert done.stdout.decode() == f"{folder}|/nowhere|unset\n", done.stderr
