"""Output that cannot be written is one line and exit code 1, never Python's own 120; a program that
`detect` ran keeps its exit code.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autofinity.resources import shipped

WORDS = (sys.executable, "-m", "autofinity")
COMMANDS = (
    ("--help",),
    ("--version",),
    ("hints", "--help"),
    ("machines",),
    ("machines", "--json"),
    ("doctor",),
    ("top", "--once"),
    ("topology", "--machine", "xeon-e5-2650"),
    ("affinities", "--threads", "4", "--machine", "xeon-e5-2650"),
    ("show", "opteron-6164he"),
    ("run", "--dry-run", "--", "true"),
)


def into_full(folder: Path, *words: str | Path, stream: str) -> tuple[int, str]:
    """Exit code of a command whose stdout, stderr or both are a full device; what the other got."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Path("/dev/full").open("wb") as full:
        for name in pipes if stream == "both" else [stream]:
            pipes[name] = full.fileno()
        done = subprocess.run(
            [*WORDS, *words],
            **pipes,
            text=True,
            timeout=600,
            cwd=folder,
            env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        )
    return done.returncode, (done.stdout or "") + (done.stderr or "")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_stdout_that_is_full_is_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    code, said = into_full(tmp_path, *words, stream="stdout")
    lines = [line for line in said.splitlines() if "could not be written" in line]
    assert (code, len(lines)) == (1, 1), said
    assert lines[0] == "autofinity: the output could not be written: No space left on device"
    assert "Exception ignored" not in said and "internal error of autofinity" not in said


@pytest.mark.parametrize("words", COMMANDS[:3], ids=" ".join)
def test_both_streams_full(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert into_full(tmp_path, *words, stream="both") == (1, "")


def test_a_notice_that_is_lost(tmp_path: Path) -> None:
    policy = shipped("policies", "opteron-6164he.json")
    code, _ = into_full(tmp_path, "export", policy, "-o", tmp_path / "f", stream="stderr")
    assert (code, (tmp_path / "f").stat().st_size > 0) == (1, True)


@pytest.mark.parametrize("words", [("no-such-command",), ("show", "no-such-policy")])
def test_an_error_that_cannot_be_said_keeps_its_code(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    plain = subprocess.run([*WORDS, *words], capture_output=True, cwd=tmp_path).returncode
    assert plain != 0
    assert into_full(tmp_path, *words, stream="stderr") == (plain, "")


@pytest.mark.parametrize("code", [0, 3])
@pytest.mark.parametrize("how", ["stderr", "both"])
def test_a_detected_program_keeps_its_exit_code(tmp_path: Path, how: str, code: int) -> None:
    words = ("detect", "--", "sh", "-c", f"exit {code}")
    plain = subprocess.run([*WORDS, *words], capture_output=True, text=True, cwd=tmp_path)
    if plain.returncode != code:
        pytest.skip(f"programs cannot be watched here: {plain.stderr}")
    assert into_full(tmp_path, *words, stream=how)[0] == code
