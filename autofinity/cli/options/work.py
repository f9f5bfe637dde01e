"""`--jobs` and `--work`, of every command that runs programs and keeps what they showed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import click

from autofinity.model.errors import UsageError

jobs_option = click.option(
    "--jobs",
    "--workers",
    "jobs",
    type=click.IntRange(min=1),
    default=lambda: len(os.sched_getaffinity(0)),
    show_default="all cores allowed",
    help="Runs at the same time.",
)
work_option = click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder for traces and what runs on them showed; what was interrupted continues there."
    "  [default: in the user's cache]",
)


def work_folder(given: Path | None, suite: Path) -> Path:
    """The folder named, or one in the user's cache that belongs to this suite manifest."""
    if given is None:
        cache = _cache_folder()
        key = hashlib.sha256(str(suite.resolve()).encode()).hexdigest()[:12]
        given = cache / "autofinity" / f"{suite.parent.name}-{key}"
    try:
        given.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make the work folder {given}: {error.strerror}; name another with --work"
        ) from error
    return given


def _cache_folder() -> Path:
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user id that the system has no home for, as containers give out
        raise UsageError(
            "there is no cache folder: expected XDG_CACHE_HOME or HOME to name one; set it, or "
            "name a work folder with --work"
        ) from None
