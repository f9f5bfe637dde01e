"""Files that nobody but their user can have written: the behaviour database, and what is beside it.

Masks are set and processes ended by what these files say. So one is opened only when it is a
regular file of this user's, in a folder where nobody else could have put it; what is made here is
private from its first byte on, whatever the umask. The launcher judges by the same rules
(native/launcher/private_file.c).
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from autofinity.given_file import read_at_most

LARGEST_BYTES = 8 << 20
"""Of a file that is read here as a whole; the launcher has the same bound."""

# No link is followed, no FIFO waited for, and a terminal does not become ours.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 40  # as Linux follows


def flaw_of(info: os.stat_result) -> str:
    """Why what is described (without following links) may be another's word; empty: it is ours."""
    if not stat.S_ISREG(info.st_mode):
        return "it is a link" if stat.S_ISLNK(info.st_mode) else "it is no regular file"
    return _foreign(info)


def folder_flaw(folder: Path) -> str:
    """Why others could have put a file into a folder; empty: they could not. Raises `OSError`.

    A sticky folder does not do: whoever is first makes the files there. Of one that is not there,
    the nearest folder above decides, in which it would be made; no link of another user's may lead
    to either.
    """
    there, missing, flaw = _followed(folder)
    info = there.lstat()
    if missing and not flaw and info.st_uid not in _trusted():
        flaw = f"a folder above it is another user's (uid {info.st_uid})"
    elif not missing and not flaw and (info.st_uid != 0 or _writable_by_others(info)):
        flaw = _foreign(info)
    return f"its folder is not private: {flaw}" if flaw else ""


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a file of ours; with O_CREAT it is made, for us alone.

    Raises `OSError`: missing, or whatever is there is not ours alone.
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
    """Make an empty file unless there is something already.

    Raises `OSError`, also where others could put files: nothing of ours is left in their folder.
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

    Raises `OSError`, also where the folder would be in another user's or is none of ours: then
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
    """A descriptor of a folder that is made unless it is there. By descriptors: what somebody puts
    in its place meanwhile is neither followed nor changed.
    """
    made = True
    try:
        os.mkdir(name, 0o700, dir_fd=above)
    except FileExistsError:  # by another process of ours, most likely
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
    """What a file of ours says. Raises `OSError`: missing, not ours, more than `LARGEST_BYTES`."""
    fd = open_private(path, os.O_RDONLY)
    try:
        return read_at_most(fd, LARGEST_BYTES, path)
    finally:
        os.close(fd)


def read_regular(path: Path, most_bytes: int) -> bytes:
    """What a regular file of anybody's says. Raises `OSError`: no such file, or it is larger."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return read_at_most(fd, most_bytes, path)
    finally:
        os.close(fd)


def append_private(path: Path, line: bytes, most_bytes: int) -> None:
    """Add to a file of ours, which begins anew when it has more than that. Raises `OSError`."""
    fd = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        if os.fstat(fd).st_size > most_bytes:
            os.ftruncate(fd, 0)
        os.write(fd, line)
    finally:
        os.close(fd)


def _foreign(info: os.stat_result) -> str:
    if info.st_uid != os.geteuid():
        return f"it is another user's (uid {info.st_uid})"
    if _writable_by_others(info):
        return f"others may write it (mode {stat.S_IMODE(info.st_mode):o})"
    return ""


def _writable_by_others(info: os.stat_result) -> bool:
    """A group with the number of its user is that user's own: many systems let it write."""
    mode = info.st_mode
    return bool(mode & stat.S_IWOTH or (mode & stat.S_IWGRP and info.st_gid != info.st_uid))


def _followed(path: Path) -> tuple[Path, list[str], str]:
    """The last folder on the way to `path` that is there, without links; the names that are missing
    in it; and what is wrong with a link on the way. Raises `OSError`.
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
    """Who may say where our files are: this user, and root."""
    return os.geteuid(), 0
