"""Attacks, and inputs that nobody would write: what tests of them share.

All of it takes less than two minutes, and runs as root and as an ordinary user (`scripts/test` does
both where it is root): a test of what only one of them can do skips with the reason.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from compiled import launcher_of
from live_run import Runner

type OnTerminal = Callable[..., tuple[int, str]]


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the package that is tested, or of the source tree."""
    return launcher_of(tmp_path_factory.mktemp("launcher"))


@pytest.fixture
def run(launcher: Path, tmp_path: Path) -> Runner:
    """Runs it, with a state folder of its own."""
    return Runner.within(tmp_path, launcher)


@pytest.fixture
def on_terminal(tmp_path: Path) -> OnTerminal:
    """Runs a command of ours (its arguments, `env=…`) whose standard streams are a terminal: its
    exit code and all that the terminal got, bytes that are no UTF-8 as surrogates.
    """

    def run(*arguments: str | bytes, env: Mapping[str, str] | None = None) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        child = subprocess.Popen(
            [sys.executable, "-m", "autofinity", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=tmp_path,
            env={
                **os.environ,
                "TERM": "xterm-256color",
                "COLUMNS": "200",
                "XDG_STATE_HOME": str(tmp_path / "state"),
                **(env or {}),
            },
        )
        os.close(theirs)
        got = bytearray()
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                part = b""
            if not part:
                break
            got += part
        os.close(ours)
        return child.wait(timeout=60), got.decode(errors="surrogateescape").replace("\r\n", "\n")

    return run
