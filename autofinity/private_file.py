"""Files that only their user can have written: the behaviour database, and the files beside it.

The content of these files decides which masks are set and which processes are ended. So a file is
opened only when it is a regular file of this user, in a folder where nobody else could have put it.
A file made here is private from its first byte on, whatever the umask. The launcher applies the
same rules (native/launcher/private_file.c).
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autofinity.given_file import read_at_most

LARGEST_BYTES = 8 << 20
"""Largest size of a file that is read here as a whole; the launcher has the same bound."""

# No link is followed, no FIFO is waited for, and no terminal becomes the controlling one.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 40  # the limit of Linux


def flaw_of(info: os.stat_result) -> str:
    """Why the file with this status (links not followed) may be another user's; empty: it is
    ours.
    """
    if not stat.S_ISREG(info.st_mode):
        return "it is a link" if stat.S_ISLNK(info.st_mode) else "it is no regular file"
    return why_not_ours(info)


def why_not_ours(info: os.stat_result) -> str:
    """Why others may own or write a file or folder with this status; empty: it is ours alone."""
    if flaw := why_foreign(info):
        return flaw
    if _writable_by_others(info):
        return f"others may write it (mode {stat.S_IMODE(info.st_mode):o})"
    return ""


def why_foreign(info: os.stat_result) -> str:
    """Says whose a file or folder is that is not ours; empty: it is ours."""
    return "" if info.st_uid == os.geteuid() else f"it is another user's (uid {info.st_uid})"


def folder_flaw(folder: Path) -> str:
    """Why others could have put a file into a folder; empty: they could not. Raises `OSError`.

    A sticky folder is not sufficient: any user may make the files there first. For a missing
    folder, the nearest folder above decides, in which it would be made; no link of another user may
    lead to either.
    """
    there, missing, flaw = _followed(folder)
    info = there.lstat()
    if missing and not flaw and info.st_uid not in _trusted():
        flaw = f"a folder above it is another user's (uid {info.st_uid})"
    elif not missing and not flaw and (info.st_uid != 0 or _writable_by_others(info)):
        flaw = why_not_ours(info)
    return f"its folder is not private: {flaw}" if flaw else ""


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a file of ours; with O_CREAT the file is made, for us alone.

    Raises `OSError`: the file is missing, or not ours alone.
    """
    if flags & os.O_CREAT:
        flags &= ~os.O_CREAT
        make(path)
    fd = os.open(path, flags & ~os.O_TRUNC | _SAFELY)
    try:
        flaw = flaw_of(os.fstat(fd))
        if flaw:
            raise PermissionError(errno.EPERM, flaw, str(path))
        if flags & os.O_TRUNC:
            os.ftruncate(fd, 0)
    except BaseException:
        os.close(fd)
        raise
    return fd


def make(path: Path) -> None:
    """Make an empty file unless one exists.

    Raises `OSError`, also where others could put files: no file of ours is made in their folder.
    """
    flaw = folder_flaw(path.parent)
    if flaw:
        raise PermissionError(errno.EPERM, flaw, str(path))
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY, 0o600)
    except FileExistsError:
        return
    try:
        os.fchmod(fd, 0o600)  # a umask may have left less
    finally:
        os.close(fd)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, each for us alone.

    Raises `OSError`, also where the folder would be in another user's folder or is not ours: then
    nothing is made.
    """
    flaw = folder_flaw(folder)
    if flaw:
        raise PermissionError(errno.EPERM, flaw, str(folder))
    there, missing, _ = _followed(folder)
    inside = os.open(there, _FOLDER)
    try:
        for name in missing:
            above, inside = inside, _made_inside(inside, name)
            os.close(above)
    finally:
        os.close(inside)


def _made_inside(above: int, name: str) -> int:
    """A descriptor of a folder that is made unless it exists.

    The function works by descriptors: a file that somebody exchanges for the folder in between is
    neither followed nor changed.
    """
    made = True
    try:
        os.mkdir(name, 0o700, dir_fd=above)
    except FileExistsError:  # most likely by another process of autofinity
        made = False
    fd = os.open(name, _FOLDER, dir_fd=above)
    info = os.fstat(fd)
    if info.st_uid != os.geteuid():
        os.close(fd)
        raise PermissionError(errno.EPERM, f"it is another user's (uid {info.st_uid})", name)
    if made:  # a umask may have left less
        Path(f"/proc/self/fd/{fd}").chmod(0o700)
    return fd


def read_private(path: Path) -> bytes:
    """Content of a file of ours. Raises `OSError`: missing, not ours, more than `LARGEST_BYTES`."""
    fd = open_private(path, os.O_RDONLY)
    try:
        return read_at_most(fd, LARGEST_BYTES, path)
    finally:
        os.close(fd)


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Content of a regular file of any user. Raises `OSError`: no such file, or larger than
    `most_bytes`.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return read_at_most(fd, most_bytes, path)
    finally:
        os.close(fd)


def append_private(path: Path, line: bytes, most_bytes: int) -> None:
    """Append a line to a file of ours, which is emptied first when it is larger than `most_bytes`.

    Raises `OSError`.
    """
    fd = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        if os.fstat(fd).st_size > most_bytes:
            os.ftruncate(fd, 0)
        os.write(fd, line)
    finally:
        os.close(fd)


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the lock of a file of ours, which is made; False inside: another process holds it.

    Raises `OSError`.
    """
    fd = open_private(path, os.O_WRONLY | os.O_CREAT)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(fd)


def _writable_by_others(info: os.stat_result) -> bool:
    """Whether others can write; a group with the number of the file's user is the user's own, and
    many systems let it write.
    """
    mode = info.st_mode
    return bool(mode & stat.S_IWOTH or (mode & stat.S_IWGRP and info.st_gid != info.st_uid))


def _followed(path: Path) -> tuple[Path, list[str], str]:
    """The last existing folder on the way to `path`, without links; the missing names below it; and
    the flaw of a link on the way.

    Raises `OSError`.
    """
    here, ahead, links = Path("/"), list(reversed(path.absolute().parts[1:])), 0
    while ahead:
        name = ahead.pop()
        if name == "..":
            here = here.parent
            continue
        try:
            info = (here / name).lstat()
        except FileNotFoundError:
            return here, [name, *reversed(ahead)], ""
        if not stat.S_ISLNK(info.st_mode):
            here /= name
            continue
        if info.st_uid not in _trusted():
            return here, [], f"a link to it is another user's (uid {info.st_uid})"
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = (here / name).readlink()
        here = Path("/") if target.is_absolute() else here
        ahead += reversed(target.parts[target.is_absolute() :])
    return here, [], ""


def _trusted() -> tuple[int, int]:
    """Users who may decide where our files are: this user, and root."""
    return os.geteuid(), 0
