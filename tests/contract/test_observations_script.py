"""`scripts/observations` calls for each machine what the table in it says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/observations"
PYTHON = '#!/bin/sh\ncase $1 in -c) echo 8 ;; *) echo "$@" ;; esac\n'
"""Prints its arguments; asked for a number of threads, 8."""


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.write_text(PYTHON)
    python.chmod(0o700)
    return tmp_path


@pytest.mark.parametrize(
    ("machine", "folder", "cores", "once", "beside", "memory"),
    [
        ("epyc-9654", "observations", "192", "8", "24,48,96", "8,48"),
        ("graviton4", "unseen", "", "", "48", "8"),
        ("ryzen-9-7950x", "unseen", "16", "", "", "8"),
        ("opteron-6164he", "observations", "", "", "", "8"),
        ("i9-13900k", "observations", "", "", "", ""),
    ],
)
def test_a_machine_runs_and_is_kept_as_its_row_says(
    calls: Path, machine: str, folder: str, cores: str, once: str, beside: str, memory: str
) -> None:
    """`once`: threads of runs that judge by inputs of size llc, and by programs of size memory."""
    env = {name: value for name, value in os.environ.items() if name != "REAL_ON"}
    done = subprocess.run(
        [SCRIPT, calls, machine], env=env, capture_output=True, text=True, check=True
    )
    *profiles, packed = done.stdout.splitlines()
    judged = (("cores", cores, "small"), ("llc", once, "llc"), ("memory", once, "memory"))
    for name, threads, size in judged:
        if threads:
            (profile, kept), profiles = profiles[:2], profiles[2:]
            assert _value(profile, "--threads") == threads
            assert _value(profile, "--size") == size
            assert f"/{name} {machine} data/{name}/{machine}.parquet" in kept
    assert f" data/{folder}/{machine}.parquet" in packed
    sizes = [(_value(line, "--threads"), _value(line, "--size")) for line in profiles]
    expected = [(beside, "small")] * bool(beside) + [(memory, "memory")] * bool(memory)
    assert sizes[:-1] == expected and sizes[-1][1] == "small"


def test_runs_of_size_memory_can_be_left_out(calls: Path) -> None:
    for left_out in ({"REAL": "", "REAL_UNSEEN": ""}, {"REAL_ON": ""}):
        env = {**os.environ, **left_out}
        done = subprocess.run(
            [SCRIPT, calls, "epyc-9654"], env=env, capture_output=True, text=True, check=True
        )
        assert "memory" not in done.stdout


def _value(line: str, option: str) -> str:
    words = line.split()
    return words[words.index(option) + 1]
