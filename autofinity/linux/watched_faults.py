"""Run a program to its end and look at every page fault of it."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Sequence

from autofinity.linux.fault_sampling import FaultSampler, open_faults
from autofinity.linux.fault_sharing import FaultSharing
from autofinity.model.errors import CapabilityError

_LOOK_MS = 50


def watch_faults(
    argv: Sequence[str],
    *,
    to_stderr: bool = False,
    saw: Callable[[FaultSharing], None] = lambda tally: None,
) -> tuple[int, FaultSharing, int]:
    """Exit code (128 + n for signal n), the tally of its faults, and how many records were lost.

    The program has our standard streams, or stderr for its stdout (`to_stderr`). `saw` is called
    after each look. Ctrl-C is the program's: we stay and report. Raises `CapabilityError` when
    faults cannot be sampled; the program has not started then.
    """
    go, ready = os.pipe2(os.O_CLOEXEC)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(ready)
        _become(argv, go, to_stderr=to_stderr)
    os.close(go)
    try:
        # A thread may run on any CPU that is online by the time it does.
        sampler = open_faults(pid, range(os.cpu_count() or 1))
    except CapabilityError:
        os.close(ready)  # it ends by itself
        os.waitpid(pid, 0)
        raise
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        os.write(ready, b"1")
        os.close(ready)
        tally = FaultSharing()
        status = _follow(pid, sampler, tally, saw)
    finally:
        signal.signal(signal.SIGINT, before)
        sampler.close()
    code = os.waitstatus_to_exitcode(status)
    return (code if code >= 0 else 128 - code), tally, sampler.lost


def _follow(
    pid: int, sampler: FaultSampler, tally: FaultSharing, saw: Callable[[FaultSharing], None]
) -> int:
    ended = select.poll()
    pidfd = os.pidfd_open(pid)
    ended.register(pidfd, select.POLLIN)
    try:
        while not ended.poll(0):
            sampler.wait(_LOOK_MS)
            tally.add(sampler.read())
            saw(tally)
    finally:
        os.close(pidfd)
    tally.add(sampler.read())
    return os.waitpid(pid, 0)[1]


def _become(argv: Sequence[str], go: int, *, to_stderr: bool) -> None:
    """The child: waits until its faults are sampled, and execs."""
    code = 126
    try:
        if os.read(go, 1):
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
                signal.signal(number, signal.SIG_DFL)
            if to_stderr:
                os.dup2(2, 1)
            os.execvp(argv[0], list(argv))
    except FileNotFoundError:
        code = 127
        os.write(2, f"autofinity: cannot run {argv[0]}: not found\n".encode())
    except OSError as error:
        os.write(2, f"autofinity: cannot run {argv[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(code)
