"""The guardian of `numa_hinting`: a process that outlives the process that armed, and disarms.

    python hinting_guardian.py      with the end of a pipe as stdin, the state file as stdout

The guardian imports nothing of the package, so that it starts at once and stays small.
"""

from __future__ import annotations

import fcntl
import os
import signal
from contextlib import suppress

_MOST_BYTES = 1 << 14


def kept(lock: int) -> list[tuple[str, str]]:
    """(file, old content) of each line in the state file `lock`."""
    lines = os.fsdecode(os.pread(lock, _MOST_BYTES, 0)).splitlines()
    return [(path, old) for old, _, path in (line.partition(" ") for line in lines) if path]


def leave(lock: int) -> None:
    """Restore the files of the state file `lock`, if no other process is inside."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # other processes are inside
    for path, old in kept(lock):
        with suppress(OSError):  # a missing file does not stop the others
            fd = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
            try:
                os.write(fd, os.fsencode(f"{old}\n"))
            finally:
                os.close(fd)
    os.ftruncate(lock, 0)
    fcntl.flock(lock, fcntl.LOCK_UN)


def main() -> None:
    """Wait until no process holds the other end of the pipe, then disarm."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.closerange(3, 1 << 16)
    os.chdir("/")
    os.read(0, 1)
    leave(1)


if __name__ == "__main__":
    main()
