"""Arms page-fault sampling with the kernel's NUMA hinting, and disarms it in any event.

With `kernel.numa_balancing` the kernel removes the permissions of pages from time to time, so that
the next access faults, on most machines of one node, too (`unmapped_pages`). The switch is
system-wide and needs root, so it is switched on only on request, and switched back by a guardian
process that outlives everything else:

    armed() ─► the first one keeps the old values in the state file and switches hinting on
       │
       └─ spawn ─► guardian: waits until the write end of a pipe is closed, by us or by our death;
                   the last one to leave (a shared lock on the state file) puts the old values back

The pace (`hinting_pace`) is set as well, where the kernel permits that.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from autofinity.linux.hinting_guardian import kept, leave
from autofinity.linux.hinting_pace import at_first, pace_files
from autofinity.linux.kernel_file import read_text
from autofinity.model.errors import CapabilityError
from autofinity.own_python import own_environment

SYSCTL = Path("/proc/sys/kernel/numa_balancing")
STATE = Path("/run/autofinity-numa-hinting")
_GUARDIAN = Path(__file__).with_name("hinting_guardian.py")
_NORMAL = 1  # bit of the sysctl: hinting for the placement of pages (2 is for memory tiers)


def hinting_is_on() -> bool:
    """Whether the kernel unmaps pages from time to time, so that they fault again."""
    return bool(int(read_text(str(SYSCTL)).strip() or 0) & _NORMAL)


@dataclass(frozen=True, slots=True)
class Armed:
    """Settings that were switched."""

    pace: Mapping[str, Path]
    """Settings of the pace by name, which may be written until the end."""
    trouble: str
    """Why there are no such settings; empty where there are."""


@contextmanager
def armed(sysctl: Path = SYSCTL, state: Path = STATE, root: Path = Path("/")) -> Iterator[Armed]:
    """Switch NUMA hinting on inside the context.

    Several processes may be inside at once; the last one to leave, or to be killed, restores the
    old values. Settings of the pace are looked for below `root`. Raises `CapabilityError`: not
    permitted, or not present.
    """
    try:
        lock = os.open(state, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _enter(lock, sysctl, pace_files(root))
        except BaseException:
            os.close(lock)
            raise
    except (OSError, ValueError) as error:
        raise CapabilityError(
            f"NUMA hinting cannot be switched on: {error}; it needs root and a kernel with "
            "CONFIG_NUMA_BALANCING"
        ) from error
    try:
        alive, guardian = _guarded(lock)
        try:
            yield _armed(lock, pace_files(root))
        finally:
            os.close(alive)
            if os.waitpid(guardian, 0)[1] != 0:  # somebody killed it
                leave(lock)
    finally:
        os.close(lock)


def _armed(lock: int, files: Mapping[str, Path]) -> Armed:
    will_be_put_back = {path for path, _ in kept(lock)}
    pace = {name: path for name, path in files.items() if str(path) in will_be_put_back}
    if pace:
        return Armed(pace, "")
    why = "is locked down" if files else "is not mounted at /sys/kernel/debug"
    return Armed(pace, f"pages fault again at the kernel's own pace: debugfs {why}")


def _enter(lock: int, sysctl: Path, pace: Mapping[str, Path]) -> None:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if kept(lock):
                return  # armed by another process, whose guardian will see our lock
            # That process has just left, and its guardian has restored the old values.
            continue
        # A state file that already exists was left by a killed guardian: it has the old values.
        old = dict(kept(lock))
        if str(sysctl) not in old:
            old = _present([sysctl, *pace.values()])
            _keep(lock, old)
        sysctl.write_text(f"{int(old[str(sysctl)]) | _NORMAL}\n")
        for name, value in at_first().items():
            if str(pace.get(name)) in old:
                with suppress(OSError):  # slower, but harmless
                    pace[name].write_text(f"{value}\n")
        fcntl.flock(lock, fcntl.LOCK_SH)
        return


def _present(files: list[Path]) -> dict[str, str]:
    """Content of each file; the first must exist, others may be locked."""
    found = {str(files[0]): files[0].read_text().strip()}
    for path in files[1:]:
        with suppress(OSError):
            found[str(path)] = path.read_text().strip()
    return found


def _keep(lock: int, old: Mapping[str, str]) -> None:
    lines = b"".join(os.fsencode(f"{value} {path}\n") for path, value in old.items())
    os.ftruncate(lock, os.pwrite(lock, lines, 0))


def _guarded(lock: int) -> tuple[int, int]:
    """The descriptor that keeps the guardian waiting, and the guardian's pid.

    The guardian is not forked: other threads of this process may hold locks. When there is no
    guardian, the old values are restored and `CapabilityError` is raised.
    """
    end, alive = os.pipe2(os.O_CLOEXEC)
    try:
        guardian = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-B", str(_GUARDIAN)],
            own_environment(os.environ),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, end, 0),
                (os.POSIX_SPAWN_DUP2, lock, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setsid=True,
        )
    except OSError as error:
        os.close(alive)
        leave(lock)
        raise CapabilityError(
            f"NUMA hinting stays off, because its guardian cannot start: {error}; expected Python "
            "at "
            f"{sys.executable}"
        ) from error
    finally:
        os.close(end)
    return alive, guardian
