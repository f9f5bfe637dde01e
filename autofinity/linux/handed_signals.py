"""Signals that are meant for a program which we started, and wait for."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_OF_KEYBOARDS = (signal.SIGINT, signal.SIGQUIT)


@contextmanager
def signals_are_for(pid: int) -> Iterator[None]:
    """Leave Ctrl-C, SIGQUIT and a closed terminal to the program inside; we stay and report.

    A terminal sends them to the program, too. SIGTERM, and SIGINT and SIGQUIT where no terminal can
    have sent them (`kill`), are forwarded to the program.
    """

    def forward(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM or not _keyboard_is_ours():
            os.kill(pid, number)

    before = {signal.SIGHUP: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    for number in (*_OF_KEYBOARDS, signal.SIGTERM):
        ignored = number != signal.SIGTERM and signal.getsignal(number) is signal.SIG_IGN
        before[number] = signal.signal(number, signal.SIG_IGN if ignored else forward)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _keyboard_is_ours() -> bool:
    """Whether keys of a terminal are signals to our process group, with the program in it."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
