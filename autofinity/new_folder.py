"""Folders that are made when something is kept in them: how, and whether that will be possible."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path

_OF_USERS = (("XDG_CACHE_HOME", ".cache"), ("XDG_CONFIG_HOME", ".config"))
"""Variables that name a user's own folders, and their usual places in the home directory."""


def make_missing(folder: Path) -> None:
    """Make a folder and those above it, as far as they are missing. Raises `OSError`.

    The user's own folders for caches and settings, and folders in them, are made for the user
    alone, whatever the umask, as the XDG base directory specification asks: other programs put
    their settings there, too. The umask decides who may use any other folder.
    """
    if folder.is_dir():
        return
    missing = [folder.absolute()]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    own = _own_folders()
    for each in reversed(missing):
        private = any(base == each or base in each.parents for base in own)
        try:
            each.mkdir(0o700 if private else 0o777)
        except FileExistsError:  # most likely by another process
            if not each.is_dir():
                raise
        else:
            if private:
                with suppress(OSError):  # file systems without modes exist
                    each.chmod(0o700)  # a umask may have left less


def _own_folders() -> list[Path]:
    home = os.environ.get("HOME", "")
    usual = {variable: f"{home}/{name}" for variable, name in _OF_USERS}
    named = {variable: os.environ.get(variable, "") for variable in usual}
    places = [named[each] if named[each].startswith("/") else usual[each] for each in usual]
    return [Path(place) for place in places if place.startswith("/")]


def why_not_made(folder: Path) -> str:
    """Why the folder cannot be made or written, as far as that is known before; empty: it can."""
    there = folder.absolute()
    try:
        while not there.exists():
            there = there.parent
    except OSError as error:
        return str(error.strerror)
    if not there.is_dir():
        return os.strerror(errno.ENOTDIR)
    if not os.access(there, os.W_OK | os.X_OK):
        read_only = os.statvfs(there).f_flag & os.ST_RDONLY
        return os.strerror(errno.EROFS if read_only else errno.EACCES)
    try:  # for some file systems, as /proc, permissions say too little
        Path(tempfile.mkdtemp(prefix=".autofinity-", dir=there)).rmdir()
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)  # what is there already can be read
        return "" if full else f"nothing can be made in {there}"
    return ""
