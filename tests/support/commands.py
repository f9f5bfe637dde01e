"""The commands of this package as people and programs start them."""

from __future__ import annotations

import os
import subprocess

from warm_commands import run_warm


def autofinity(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command. Raises AssertionError unless it ends with `code`, without a traceback."""
    done = run_warm(arguments, env={**os.environ, "COLUMNS": "80"})
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done
