"""Signals that are meant for a program which we started, and wait for."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

_OF_TERMINALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)


@contextmanager
def signals_are_for(pid: int) -> Iterator[None]:
    """Leave Ctrl-C, SIGQUIT and a closed terminal to the program inside; we stay and report.

    SIGTERM is forwarded to the program.
    """
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _OF_TERMINALS}
    before[signal.SIGTERM] = signal.signal(signal.SIGTERM, lambda number, _: os.kill(pid, number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
