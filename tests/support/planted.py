"""What somebody else may have made of a file, or of the folder that it is in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

NOBODY = 65534


def plant(kind: str, path: Path) -> None:
    """Does it to the file at `path`. Skips the test where that takes root's rights."""
    if "another user" in kind and os.geteuid() != 0:
        pytest.skip("only root can make another user's files")
    PLANTED[kind](path)


def _chown(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def _exchange(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink(missing_ok=True)
    make(path)


def _link(path: Path) -> None:
    """To a file that would do."""
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _group_writes(path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(path, 0, NOBODY)
    elif os.getegid() == os.geteuid():
        pytest.skip("this user's group is nobody else's")
    path.chmod(0o660)


def _beside(suffix: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    return lambda path: _exchange(Path(f"{path}{suffix}"), make)


PLANTED: dict[str, Callable[[Path], object]] = {
    "another user's": _chown,
    "all may write": lambda path: path.chmod(0o666),
    "a group may write": _group_writes,
    "a link": _link,
    "a link to nowhere": lambda path: _exchange(path, lambda each: each.symlink_to("nowhere")),
    "a link to a device": lambda path: _exchange(path, lambda each: each.symlink_to("/dev/zero")),
    "a FIFO": lambda path: _exchange(path, os.mkfifo),
    "a folder": lambda path: _exchange(path, os.mkdir),
    "in another user's folder": lambda path: _chown(path.parent),
    "in a folder that all may write": lambda path: path.parent.chmod(0o1777),
    "with a journal that is a link": _beside("-journal", lambda path: path.symlink_to("/etc")),
    "with a log that is a FIFO": _beside("-wal", os.mkfifo),
    "with another user's index": _beside("-shm", lambda path: (path.touch(), _chown(path))),
}
