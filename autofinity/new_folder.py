"""Folders that are made when something is kept in them: whether that will be possible."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path


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
