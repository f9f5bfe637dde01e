"""Arming page-fault sampling with the kernel's NUMA hinting, and disarming it whatever happens.

`kernel.numa_balancing` makes the kernel take pages' permissions away now and then, so that the next
access faults: on machines of one node too. It is system-wide and root's, so it is switched on only
when asked for, and switched back by a guardian process that outlives everything else:

    armed() ─► the first one keeps the old value in the state file and switches hinting on
       │
       └─ fork ─► guardian: waits until the write end of a pipe is closed, by us or by our death;
                  the last one to leave (a shared lock on the state file) puts the old value back
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autofinity.model.errors import CapabilityError

SYSCTL = Path("/proc/sys/kernel/numa_balancing")
STATE = Path("/run/autofinity-numa-hinting")
_NORMAL = 1  # bit of the sysctl: hinting for the placement of pages (2 is for memory tiers)


@contextmanager
def armed(sysctl: Path = SYSCTL, state: Path = STATE) -> Iterator[None]:
    """NUMA hinting is on inside. Several processes may be inside at once; the last one to leave, or
    to be killed, puts back what was there. Raises `CapabilityError`: not permitted, not there.
    """
    try:
        lock = os.open(state, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _enter(lock, sysctl)
        except BaseException:
            os.close(lock)
            raise
    except (OSError, ValueError) as error:
        raise CapabilityError(
            f"NUMA hinting cannot be switched on: {error}; it needs root and a kernel with "
            "CONFIG_NUMA_BALANCING"
        ) from error
    end, alive = os.pipe2(os.O_CLOEXEC)
    guardian = os.fork()
    if guardian == 0:
        os.close(alive)
        _guard(end, lock, sysctl)
    os.close(end)
    try:
        yield
    finally:
        os.close(alive)
        if os.waitpid(guardian, 0)[1] != 0:  # somebody killed it
            _leave(lock, sysctl)
        os.close(lock)


def _enter(lock: int, sysctl: Path) -> None:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if os.pread(lock, 16, 0):
                return  # armed by another one, whose guardian will see our lock
            # That one has just left, and has put the old value back.
            continue
        # What is there already was left by a guardian that was killed: that is the old value.
        old = os.pread(lock, 16, 0) or sysctl.read_bytes().strip()
        os.pwrite(lock, old, 0)
        sysctl.write_text(f"{int(old) | _NORMAL}\n")
        fcntl.flock(lock, fcntl.LOCK_SH)
        return


def _guard(end: int, lock: int, sysctl: Path) -> None:
    """The guardian's whole life."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.chdir("/")
        keep = sorted((end, lock))
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            if fd not in keep:
                os.dup2(null, fd)
        os.closerange(3, keep[0])
        os.closerange(keep[0] + 1, keep[1])
        os.closerange(keep[1] + 1, 1 << 16)
        os.read(end, 1)
        _leave(lock, sysctl)
        code = 0
    finally:
        os._exit(code)


def _leave(lock: int, sysctl: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # others are inside
    old = os.pread(lock, 16, 0)
    if old:
        sysctl.write_bytes(old + b"\n")
        os.ftruncate(lock, 0)
    fcntl.flock(lock, fcntl.LOCK_UN)
