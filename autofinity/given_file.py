"""Files that a user names: read as a whole, up to a size, without an endless wait.

    regular file              its bytes
    pipe, `<(COMMAND)`        all bytes until its writers leave
    FIFO without a writer     an error, a second later

Devices, sockets and folders are errors, too.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path

PATIENCE_S = 1.0
"""Time in which the writer of a FIFO may come: a shell starts writer and reader at the same
time."""
_PAUSE_S = 0.02
_START_BYTES = 4096
_CHUNK_BYTES = 1 << 20
"""Bytes that are read at once: a buffer as large as the bound would be allocated for the smallest
file."""


def read_given(path: Path, most_bytes: int) -> bytes:
    """The bytes of the file or the pipe.

    Raises `OSError`, which names `path`: no such file, neither file nor pipe, a FIFO without a
    writer, or more than `most_bytes`.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        info = os.fstat(fd)
        if stat.S_ISFIFO(info.st_mode):
            start = _first_of_pipe(fd, path)
        elif stat.S_ISDIR(info.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        elif not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "it is neither a regular file nor a pipe", str(path))
        else:
            start = b""
        return read_at_most(fd, most_bytes, path, start)
    finally:
        os.close(fd)


def read_at_most(fd: int, most_bytes: int, path: Path, start: bytes = b"") -> bytes:
    """`start` and the rest of a file. Raises `OSError` when both are longer than `most_bytes`."""
    data = bytearray(start)
    too_large = os.fstat(fd).st_size > most_bytes
    while not too_large:
        more = os.read(fd, min(_CHUNK_BYTES, most_bytes + 1 - len(data)))
        if not more:
            return bytes(data)
        data += more
        too_large = len(data) > most_bytes
    raise OSError(errno.EFBIG, f"it has more than {most_bytes >> 20} MiB", str(path))


def _first_of_pipe(fd: int, path: Path) -> bytes:
    """The first bytes from a pipe; from then on reading waits for its writers."""
    patient_until_s = time.monotonic() + PATIENCE_S
    while True:
        last = time.monotonic() > patient_until_s  # before the read: this process may be held up
        try:
            start = os.read(fd, _START_BYTES)
        except BlockingIOError:  # there is a writer, which has not written yet
            start = None
        if start != b"":
            os.set_blocking(fd, True)
            return start or b""
        if last:
            raise OSError(errno.ENODATA, "it is a pipe without a writer", str(path))
        time.sleep(_PAUSE_S)
