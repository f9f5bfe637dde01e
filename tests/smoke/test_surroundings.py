"""Commands in surroundings that are not as they should be: encodings, readers that go away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "autofinity")
POLICY = Path(__file__).parents[2] / "policies" / "opteron-6164he.json"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("figure", "10", "--machine", "kmaf16-simulated", "--threads", "4"),
        ("topology", "--machine", "opteron-6164he"),
        ("compare", "--list"),
        ("evaluate", "--help"),
        ("show", str(POLICY)),
        ("doctor",),
    ],
)
def test_what_a_terminal_does_not_know_stops_no_command(
    encoding: str, arguments: tuple[str, ...]
) -> None:
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([*COMMAND, *arguments], env=env, capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.strip()


MANY = ("affinities", "--machine", "opteron-6164he", "--threads", "24")


@pytest.mark.parametrize(
    "words",
    [(*MANY, "--limit", "2000"), (*MANY, "--json"), ("run", "--dry-run", "--", "true")],
    ids=" ".join,
)
def test_a_reader_that_goes_is_no_error_of_ours(words: tuple[str, ...]) -> None:
    command = (*COMMAND, *words)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=300)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    wish = tmp_path / "missing" / "header.h"
    command = (*COMMAND, "export", str(POLICY), "--format", "c", "-o", str(wish))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert f"{wish}: there is no folder {wish.parent}" in " ".join(done.stderr.split())
