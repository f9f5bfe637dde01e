"""An installation on a machine without a compiler."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "cmake", "make", "ninja", "ld", "as")
"""Programs that a login node lacks."""
TOOLS = ("sh", "bash", "env", "sleep", "cat", "uname")


@dataclass(frozen=True)
class LoginNode:
    """A new virtual environment, and a PATH without compilers."""

    venv: Path
    environment: dict[str, str]
    elsewhere: Path
    """An empty folder to run in."""

    def run(self, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment. Raises AssertionError unless it ends with `code`."""
        done = subprocess.run(
            [str(self.venv / "bin" / command[0]), *command[1:]],
            env=self.environment,
            cwd=self.elsewhere,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done
