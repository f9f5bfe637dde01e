"""Changes that another user may have made to a file, or to the folder that holds it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

NOBODY = 65534


def plant(kind: str, path: Path) -> None:
    """Make the change `kind` to the file at `path`. Skips the test where that takes root's
    rights.
    """
    if "another user" in kind and os.geteuid() != 0:
        pytest.skip("only root can make another user's files")
    PLANTED[kind](path)


def plant_way(steps: list[str], base: Path) -> Path:
    """Make a path of folders and links in `base`, each `our …` or `their …`. Returns its end.

    Skips the test where that takes root's rights.
    """
    if any(step.startswith("their") for step in steps) and os.geteuid() != 0:
        pytest.skip("only root can make another user's files")
    way, real = base, base
    for number, step in enumerate(steps):
        way /= f"step-{number}"
        real /= f"step-{number}"
        if "link" in step:
            target = base / f"target-{number}"
            target.mkdir(mode=0o700)
            real.symlink_to(target if number % 2 else os.path.relpath(target, real.parent))
            made, real = real, target
        else:
            real.mkdir(mode=0o700)
            made = real
        if "sticky" in step:
            made.chmod(0o1777)
        if step.startswith("their"):
            _chown(made)
    return way


def _chown(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def _exchange(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink(missing_ok=True)
    make(path)


def _link(path: Path) -> None:
    """Replace the file by a link to a file that would do."""
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


def _folder_behind_a_link(path: Path) -> Path:
    """Put the file's folder behind a link. Returns the link."""
    link = path.parent
    link.rename(link.with_name("behind"))
    link.symlink_to("behind")
    return link


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
    "behind another user's link": lambda path: _chown(_folder_behind_a_link(path)),
    "with a journal that is a link": _beside("-journal", lambda path: path.symlink_to("/etc")),
    "with a log that is a FIFO": _beside("-wal", os.mkfifo),
    "with another user's index": _beside("-shm", lambda path: (path.touch(), _chown(path))),
}
