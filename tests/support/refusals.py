"""Commands that refuse their input: one line, an exit code, and nothing changed."""

from __future__ import annotations

import os
from pathlib import Path

from warm_commands import run_warm


def refused(folder: Path, *arguments: str | Path, code: int = 1) -> str:
    """The one line that a command prints; nothing in the folder may change."""
    before = content(folder)
    done = run_warm(
        arguments,
        env={
            **os.environ,
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        },
    )
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith("autofinity: ") and done.stderr.count("\n") == 1, done.stderr
    assert "internal error of autofinity" not in done.stderr
    assert content(folder) == before
    return done.stderr


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
