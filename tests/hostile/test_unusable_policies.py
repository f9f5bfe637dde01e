"""A policy that cannot be used decides nothing, and `attach` says why, as `run` does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (Path.touch, "content: "),
    "of no version": (lambda path: path.write_text("{}"), "format: "),
    "a folder": (Path.mkdir, "cannot be read"),
    "a FIFO": (os.mkfifo, "cannot be read"),
}


def attach(tmp_path: Path, *options: str, **environment: str) -> list[str]:
    """Messages of `attach` on a program that ends once it is watched."""
    with subprocess.Popen(["sleep", "60"]) as program:
        watching = subprocess.Popen(
            [sys.executable, "-m", "autofinity", "attach", str(program.pid), *options],
            env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), **environment},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert watching.stderr is not None
        first = watching.stderr.readline()
        program.terminate()
        _, rest = watching.communicate()
    assert watching.returncode == 0, first + rest
    return (first + rest).splitlines()


@pytest.mark.parametrize("kind", UNUSABLE)
def test_attach_says_why_the_default_policy_is_not_used(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    make, reason = UNUSABLE[kind]
    make(path)
    lines = attach(tmp_path, AUTOFINITY_POLICY=str(path))
    (said,) = [line for line in lines if "is not used" in line]
    assert said.startswith("autofinity: the policy is not used: ")
    assert reason in said and str(path) in said
    assert said.endswith("the program stays as the system places it")


def test_attach_says_nothing_of_a_policy_that_is_used_or_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.touch()
    used = attach(tmp_path, "--policy", "any-machine")
    by_hint = attach(tmp_path, "--hint", "SLP", AUTOFINITY_POLICY=str(path))
    assert not [line for line in used + by_hint if "not used" in line]
