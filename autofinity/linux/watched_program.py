"""Runs a program to its end and records each of its page faults, or sampled accesses."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Sequence

from autofinity.child_program import exit_code_of
from autofinity.linux.access_events import PAGE_FAULTS, AccessEvent
from autofinity.linux.address_sampling import TouchSampler, open_touches
from autofinity.linux.gated_start import start_gated
from autofinity.linux.handed_signals import signals_are_for
from autofinity.linux.online import whole_machine
from autofinity.linux.touch_sharing import TouchSharing
from autofinity.model.errors import CapabilityError

_LOOK_MS = 50


def watch_touches(
    argv: Sequence[str],
    *,
    events: Sequence[AccessEvent] = (PAGE_FAULTS,),
    to_stderr: bool = False,
    saw: Callable[[TouchSharing], None] = lambda tally: None,
) -> tuple[int, TouchSharing, int]:
    """Run a program; return its exit code (128 + n for signal n), the tally of its touches, and the
    number of lost records.

    The program has our standard streams, or stderr for its stdout (`to_stderr`). `saw` is called
    after each look. Ctrl-C and the closing of a terminal are left to the program: we stay and
    report. SIGTERM is forwarded to it. Raises `CapabilityError` when these events cannot be
    sampled; the program has not started then.
    """
    output = [(os.POSIX_SPAWN_DUP2, 2, 1)] if to_stderr else []
    pid, ready = start_gated(argv, os.environ, output)
    try:
        # The program may widen its mask, and `online` may be a container's.
        sampler = open_touches(pid, whole_machine(), events)
    except CapabilityError:
        os.close(ready)  # the child ends by itself
        os.waitpid(pid, 0)
        raise
    try:
        with signals_are_for(pid):
            os.write(ready, b"1")
            os.close(ready)
            tally = TouchSharing()
            status = _follow(pid, sampler, tally, saw)
    finally:
        sampler.close()
    return exit_code_of(status), tally, sampler.lost


def _follow(
    pid: int, sampler: TouchSampler, tally: TouchSharing, saw: Callable[[TouchSharing], None]
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
