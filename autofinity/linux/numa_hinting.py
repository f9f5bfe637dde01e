"""Arming page-fault sampling with the kernel's NUMA hinting, and disarming it whatever happens.

`kernel.numa_balancing` makes the kernel take pages' permissions away now and then, so that the next
access faults: on machines of one node too. It is system-wide and root's, so it is switched on only
when asked for, and switched back by a guardian process that outlives everything else:

    armed() ─► the first one keeps the old value in the state file and switches hinting on
       │
       └─ spawn ─► guardian: waits until the write end of a pipe is closed, by us or by our death;
                   the last one to leave (a shared lock on the state file) puts the old value back
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autofinity.linux.hinting_guardian import leave
from autofinity.linux.proc import read_text
from autofinity.model.errors import CapabilityError

SYSCTL = Path("/proc/sys/kernel/numa_balancing")
STATE = Path("/run/autofinity-numa-hinting")
_GUARDIAN = Path(__file__).with_name("hinting_guardian.py")
_NORMAL = 1  # bit of the sysctl: hinting for the placement of pages (2 is for memory tiers)


def hinting_is_on(sysctl: Path = SYSCTL) -> bool:
    """Whether the kernel takes pages away now and then, so that they fault again."""
    return bool(int(read_text(str(sysctl)).strip() or 0) & _NORMAL)


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
    try:
        alive, guardian = _guarded(lock, sysctl)
        try:
            yield
        finally:
            os.close(alive)
            if os.waitpid(guardian, 0)[1] != 0:  # somebody killed it
                leave(lock, str(sysctl))
    finally:
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


def _guarded(lock: int, sysctl: Path) -> tuple[int, int]:
    """The descriptor that keeps the guardian waiting, and the guardian's pid.

    Not by fork: other threads of this process may hold locks. When there is no guardian the old
    value is put back, and `CapabilityError` raised.
    """
    end, alive = os.pipe2(os.O_CLOEXEC)
    try:
        guardian = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-B", str(_GUARDIAN), str(sysctl)],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, end, 0),
                (os.POSIX_SPAWN_DUP2, lock, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setsid=True,
        )
    except OSError as error:
        os.close(alive)
        leave(lock, str(sysctl))
        raise CapabilityError(
            f"NUMA hinting is not switched on without a guardian: {error}; expected Python at "
            f"{sys.executable}"
        ) from error
    finally:
        os.close(end)
    return alive, guardian
