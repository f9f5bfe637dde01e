"""Signals that are meant for a program which we started, and wait for."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_OF_TERMINALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)


@contextmanager
def handed_signals() -> Iterator[Callable[[int], None]]:
    """Leave Ctrl-C, SIGQUIT and a closed terminal to a program; we stay and report.

    Enter before the program starts, and call the function that is given with the program's pid:
    signals that came in between go to the program then. Those that no program could be given are
    ours when the context ends.

    A terminal sends its signals to the program, too. SIGTERM, and the others where no terminal can
    have sent them (`kill`), are forwarded to the program. Ignored signals stay ignored.
    """
    program: int | None = None
    early: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:
        if program is None:
            early.append(number)
        elif number == signal.SIGTERM or not _keyboard_is_ours():
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(program, number)

    def hand_to(pid: int) -> None:
        nonlocal program
        program = pid
        while early:
            forward(early.pop(0), None)

    before = {
        number: signal.signal(number, forward)
        for number in (*_OF_TERMINALS, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield hand_to
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for unsent in early:
            os.kill(os.getpid(), unsent)


@contextmanager
def signals_are_for(pid: int) -> Iterator[None]:
    """`handed_signals` for a program that has started, and does nothing yet."""
    with handed_signals() as hand_to:
        hand_to(pid)
        yield


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
