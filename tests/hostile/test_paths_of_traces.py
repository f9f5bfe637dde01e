"""Traces, suites and work folders whose paths are no UTF-8 are captured, replayed and refused like
any others.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from refusals import refused
from warm_commands import run_warm

from autofinity._core import sim as core
from autofinity._core import trace as traces
from autofinity.model.errors import TraceError
from autofinity.workflow.wanted import work_folder

NAME = os.fsdecode(b"x\xff")
PROGRAM = (
    '#include <stdio.h>\nint main(void) { int a[64] = {1}; printf("%d\\n", a[3]); return 0; }\n'
)


def test_the_core_reads_and_writes_traces_at_any_path(tmp_path: Path) -> None:
    folder = tmp_path / NAME
    folder.mkdir()
    builder = traces.TraceBuilder()
    builder.access(builder.stream(), 7)
    builder.write(str(folder))
    assert not traces.is_sampled(str(folder))
    assert traces.summary(folder)["digest"] == traces.read(str(folder)).digest
    assert core.Program.read(str(folder)).streams == 1
    traces.read(folder).write(folder)


@pytest.mark.parametrize(
    "read", [traces.read, traces.summary, traces.read_sampled, core.Program.read]
)
def test_what_is_missing_there_is_named_by_its_bytes(tmp_path: Path, read: object) -> None:
    assert callable(read)
    with pytest.raises(TraceError) as told:
        read(str(tmp_path / NAME))
    assert os.fsencode(tmp_path / NAME) in os.fsencode(str(told.value))


@pytest.mark.parametrize("command", ["simulate", "detect"])
def test_a_missing_trace_of_such_a_name_is_refused(tmp_path: Path, command: str) -> None:
    assert r"x\xff" in refused(tmp_path, command, tmp_path / NAME)


def test_a_missing_suite_of_such_a_name_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, "train", "--suite", tmp_path / NAME, "--work", tmp_path / "w")
    assert r"x\xff" in said


def test_a_suite_of_such_a_name_has_a_work_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    other = os.fsdecode(b"x\xfe")
    found = {work_folder(None, tmp_path / name / "suite.toml") for name in (NAME, other)}
    assert len(found) == 2


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_a_suite_is_captured_into_and_replayed_from_such_a_folder(tmp_path: Path) -> None:
    suite, out = tmp_path / os.fsdecode(b"suite\xe9"), tmp_path / NAME
    suite.mkdir()
    (suite / "p.c").write_text(PROGRAM)
    (suite / "suite.toml").write_text(
        '[suite]\nname = "strange"\n[programs.p]\nroi = "whole"\n'
        'build = "{cc} {cflags} -O1 -o {out}/p {dir}/p.c {ldflags}"\n'
        'run = ["{out}/p"]\ninputs = { tiny = "" }\n'
    )
    capture = ("capture", "--suite", suite / "suite.toml", "--size", "tiny", "-t", "1", "-o", out)
    for _ in range(2):  # the second finds what the first kept
        done = autofinity(tmp_path, *capture, "--json")
        assert done.returncode == 0, done.stderr
    (folder,) = [path for path in out.iterdir() if not path.name.startswith(".")]
    done = autofinity(tmp_path, "simulate", folder, "-t", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert os.fsencode(json.loads(done.stdout)["trace"]) == os.fsencode(folder)


def autofinity(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_warm(arguments, env={**os.environ, "XDG_STATE_HOME": str(folder / "state")})
