"""Common parts of tests with attacks, and with inputs that nobody would write.

All these tests take less than two minutes. They hold for root and for an ordinary user
(`scripts/test` runs as both where it is root, but for those marked `any_user`, to which the user
makes no difference): a test of something that only one of them can do is skipped with the reason.
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
    """The launcher of the package that is tested, or of the source tree."""
    return launcher_of(tmp_path_factory.mktemp("launcher"))


@pytest.fixture
def run(launcher: Path, tmp_path: Path) -> Runner:
    """A runner of the launcher, with a state folder of its own."""
    return Runner.within(tmp_path, launcher)


@pytest.fixture
def on_terminal(tmp_path: Path) -> OnTerminal:
    """Run a command of ours (its arguments, `env=…`) whose standard streams are a terminal. Returns
    its exit code and its whole output on the terminal; bytes that are not UTF-8 become surrogates.
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
        return child.wait(timeout=600), got.decode(errors="surrogateescape").replace("\r\n", "\n")

    return run
