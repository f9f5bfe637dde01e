"""Files that appear as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from pathlib import Path

_TEMPORARY = ".tmp"
_LEFTOVER = re.compile(rf"\..+\.[0-9]+-[0-9a-f]{{6}}{re.escape(_TEMPORARY)}", re.DOTALL)


def replace_file(
    path: Path, content: bytes | bytearray | str, *, durable: bool = True, private: bool = False
) -> None:
    """Replace the content of `path` by `content`, in one step.

    A new file beside the old one gets the content and then the name, so that readers see the old
    file or the new one, also after a crash; without `durable` (no fsync) only as long as the
    machine runs. A file that is not regular (a pipe) cannot be replaced and is written to, and so
    is an open file (/dev/stdout, /dev/fd/3), behind what is in it. A symbolic link stays, and its
    target is replaced. The mode of the old file is kept. A `private` file is its user's alone,
    whatever the umask, and replaces anything, a link itself. Raises `OSError`, which names `path`;
    the old file is then kept.
    """
    data = content.encode() if isinstance(content, str) else content
    if not private and _is_written_to(path):
        try:
            with path.open("ab" if path.is_file() else "wb") as stream:
                stream.write(data)
        except OSError as error:
            error.filename = str(path)
            raise
        return
    target = path if private else _target(path)
    name = f".{target.name}.{os.getpid()}-{os.urandom(3).hex()}{_TEMPORARY}"
    temporary = target.with_name(name)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        mode = None if private else _mode(target)
        begins = 0o666 if mode is None and not private else 0o600
        with os.fdopen(os.open(temporary, flags, begins), "wb") as stream:
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            if private:
                os.fchmod(stream.fileno(), 0o600)  # a umask may have left less
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None  # hide the temporary name
        raise
    if durable:
        _keep_name(target.parent)


def is_leftover(path: Path) -> bool:
    """Whether the file is one that a killed process has begun in `replace_file`."""
    return _LEFTOVER.fullmatch(path.name) is not None and path.is_file()


def check_replaceable(path: Path) -> None:
    """Raise the `OSError` that `replace_file` would, as far as that is known before; it names
    `path`.
    """
    import tempfile  # a megabyte of memory that monitors do without

    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if _is_written_to(path):
            return
        with tempfile.TemporaryFile(dir=_target(path).parent):
            pass
    except OSError as error:
        error.filename = str(path)
        raise


def _mode(path: Path) -> int | None:
    """Who may read and write an existing file; None where there is none."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return None


def _target(path: Path) -> Path:
    """The file that a symbolic link leads to, which need not exist; `path` where it is no link.

    Raises the `OSError` of opening `path`: for a loop, and for a link in a folder such as /tmp that
    the kernel does not follow because it is another user's (fs.protected_symlinks).
    """
    if not path.is_symlink():
        return path
    with contextlib.suppress(FileNotFoundError):
        path.stat()
    return Path(os.path.realpath(path))


def _is_written_to(path: Path) -> bool:
    return path.exists() and (not path.is_file() or _is_open_file(path))


def _is_open_file(path: Path) -> bool:
    """Whether a path goes by a descriptor of a process, as /dev/stdout does."""
    for _ in range(_MOST_LINKS):
        if os.fspath(path.parent.resolve()).startswith("/proc/"):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / path.readlink()
    return False


_MOST_LINKS = 40  # the limit of Linux


def _keep_name(folder: Path) -> None:
    """Make a rename in `folder` durable: the directory is data, too."""
    with contextlib.suppress(OSError):  # some file systems refuse; the content itself is safe
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
