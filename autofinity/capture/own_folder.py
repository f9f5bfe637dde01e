"""Folders of ours that one process at a time fills, and that are nobody's sources."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

_MARK = ".autofinity"
_OURS = (_MARK, ".builds", "index.aft")
"""What of ours is in a folder: our mark, builds for captures, the events of a trace."""


def take(folder: Path) -> int:
    """A descriptor of the folder, locked; it is made where it is not there. Waits for another
    process that has it: look again what is in it now.
    """
    while True:
        folder.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):  # who had it has just removed it, or given it its name
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # file systems without locks exist: there nobody waits
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if is_at(descriptor, folder):
                return descriptor
            os.close(descriptor)


def is_at(descriptor: int, folder: Path) -> bool:
    """Whether the open folder still has this name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    return False


def make_own(folder: Path) -> None:
    """Make the folder, unless it is there; one that is made here is marked as ours."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _MARK).touch()


def is_own(folder: Path) -> bool:
    """Whether what is in the folder was made by us, and not by a person."""
    return any((folder / name).exists() for name in _OURS)
