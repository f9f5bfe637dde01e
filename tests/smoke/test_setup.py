"""`scripts/setup`: which Python it takes, what it says of the others, and its interruption."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import runs

SETUP = Path(__file__).parents[2] / "scripts" / "setup"
INSTALL = SETUP.parent / "tools" / "install.py"
TOOLS = ("sh", "dirname", "date", "sed", "sleep", "tail", "tee", "tr", "touch", "cc", "c++")
OLD = """#!/bin/sh
echo 'Python 3.9.2' >&2
exit 1
"""
BROKEN = """#!/bin/sh
echo 'error while loading shared libraries: libpython3.12.so.1.0' >&2
exit 127
"""
CLOCK = """#!/bin/sh
test -e '{file}' && seconds=$(($(cat '{file}') + 61)) || seconds=0
echo $seconds | tee '{file}'
"""
SLOW_PIP = """
import pathlib, time
print("Building")
clock = pathlib.Path("{file}")
while not (clock.exists() and clock.read_text().strip() not in ("", "0", "61")):
    time.sleep(0.02)  # until the clock is asked a third time, after a minute was said
"""
PIP = """
import pathlib, subprocess
child = subprocess.Popen(["sleep", "600"])
written = pathlib.Path(__file__).with_name("new")
written.write_text(str(child.pid))
written.rename(written.with_name("pid"))
child.wait()
"""
FAILING_PIP = """
import pathlib, subprocess, sys, time
pid = pathlib.Path(__file__).with_name("pid")
if sys.argv[1] == "wheel":
    pid.write_text(str(subprocess.Popen(["sleep", "600"]).pid))
    time.sleep(600)
while not (pid.exists() and pid.read_text()):
    time.sleep(0.02)
sys.exit("no such package")
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Nothing but the tools that the script needs, and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        if found is None:
            pytest.skip(f"no {tool}")
        (folder / tool).symlink_to(found)
    return {"PATH": str(folder), "HOME": str(tmp_path / "home"), "LC_ALL": "C.UTF-8"}


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def assert_ended(pid: int) -> None:
    """Wait for the end of a process that the set-up started."""
    for _ in range(6000):
        if not runs(pid):
            return
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("what was started runs on")


def test_interpreters_that_will_not_do_are_named_with_the_reason(
    tmp_path: Path, env: dict[str, str]
) -> None:
    old = program(tmp_path / "bin" / "python3", OLD)
    broken = program(tmp_path / "home/.pyenv/versions/3.12.1/bin/python3", BROKEN)
    done = subprocess.run(
        [SETUP, tmp_path / "venv"],
        env={**env, "PYENV_ROOT": str(tmp_path / "elsewhere")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "no Python ≥ 3.12 with venv found" in done.stderr
    lines = done.stderr.splitlines()
    assert f"  {old}: Python 3.9.2" in lines
    assert f"  {broken}: error while loading shared libraries: libpython3.12.so.1.0" in lines
    assert not (tmp_path / "venv").exists()
    homeless = {name: value for name, value in env.items() if name != "HOME"}
    done = subprocess.run([SETUP, tmp_path / "venv"], env=homeless, capture_output=True, text=True)
    assert f"  {old}: Python 3.9.2" in done.stderr.splitlines()


def test_a_long_setup_says_every_minute_in_a_log_how_far_it_is(
    tmp_path: Path, env: dict[str, str]
) -> None:
    folder = Path(env["PATH"])
    (folder / "date").unlink()
    program(folder / "date", CLOCK.format(file=tmp_path / "seconds"))
    (folder / "cat").symlink_to(shutil.which("cat") or "cat")
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    program(tmp_path / "lib" / "pip.py", SLOW_PIP.format(file=tmp_path / "seconds"))
    env["PYTHONPATH"] = str(tmp_path / "lib")
    done = subprocess.run([SETUP, tmp_path / "venv"], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "\nsetup: 61 s" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("setup: done in ")
    assert "venv/bin/autofinity" in last
    assert (tmp_path / "venv" / ".ready").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_setup_leaves_no_compiler_running(
    tmp_path: Path, env: dict[str, str], number: signal.Signals
) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    program(tmp_path / "lib" / "pip.py", PIP)
    env["PYTHONPATH"] = str(tmp_path / "lib")
    command = [SETUP, tmp_path / "venv"]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(6000):
            if (tmp_path / "lib" / "pid").exists():
                break
            time.sleep(0.02)
        compiler = int((tmp_path / "lib" / "pid").read_text())
        process.send_signal(number)
        _, said = process.communicate(timeout=600)
    assert process.returncode == -number, said
    assert "interrupted; the same command begins again" in said
    assert not (tmp_path / "venv" / ".ready").exists()
    assert_ended(compiler)


def test_extras_that_name_extras_of_the_project_stand_for_their_packages() -> None:
    spec = importlib.util.spec_from_file_location("install", INSTALL)
    assert spec is not None and spec.loader is not None
    install = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(install)
    project = {
        "name": "ours",
        "dependencies": ["a>=1"],
        "optional-dependencies": {"x": ["b"], "y": ["c[z]>=2", "ours[x]"], "dev": ["ours[x,y]"]},
    }
    assert sorted(set(install.requirements(project, ["dev"]))) == ["a>=1", "b", "c[z]>=2"]


def test_a_failed_pip_ends_the_other_one_and_the_setup(tmp_path: Path, env: dict[str, str]) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    program(tmp_path / "lib" / "pip.py", FAILING_PIP)
    env["PYTHONPATH"] = str(tmp_path / "lib")
    done = subprocess.run([SETUP, tmp_path / "venv"], env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "no such package" in done.stderr
    assert "installing failed; the whole log is in" in done.stderr
    assert not (tmp_path / "venv" / ".ready").exists()
    compiler = int((tmp_path / "lib" / "pid").read_text())
    assert_ended(compiler)
