"""Our own folders, which one process at a time fills, and which hold no sources of users.

Programs that are built there are executed, so another user's folder is never taken: whoever may
write to a work folder can make folders with the names of ours first.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path

from autofinity.new_folder import make_missing
from autofinity.private_file import why_foreign

_MARK = ".autofinity"
_OURS = (_MARK, ".builds", "index.aft")
"""Our files in such a folder: our mark, builds for captures, the events of a trace."""


def take(folder: Path) -> int:
    """A descriptor of the folder, locked; a missing folder is made.

    The function waits for another process that holds the lock: the caller must check the folder's
    content again. Raises `OSError`, also for another user's folder and for a link.
    """
    while True:
        folder.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):  # its owner has just removed or renamed it
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            if flaw := why_foreign(os.fstat(descriptor)):
                os.close(descriptor)
                raise PermissionError(errno.EPERM, flaw, str(folder))
            with suppress(OSError):  # file systems without locks exist: there no process waits
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
    """Make the folder, unless it exists; a folder made here is marked as ours."""
    if not folder.is_dir():
        make_missing(folder)
        (folder / _MARK).touch()


def is_own(folder: Path) -> bool:
    """Whether autofinity, and not a person, made the content of the folder."""
    return any((folder / name).exists() for name in _OURS)
