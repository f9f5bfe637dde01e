"""What ends a command from outside: Ctrl-C, a batch system's SIGTERM, a terminal that is closed.

All of them are a `KeyboardInterrupt` to the command, so that programs it started end with it and
what is half written goes; afterwards the process ends by that very signal, as its parent expects: a
shell's loop stops, and a batch system sees why.
"""

from __future__ import annotations

import atexit
import os
import signal
import stat
import sys
from contextlib import suppress
from types import FrameType
from typing import Never

_OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_UNTOUCHED = (signal.SIG_DFL, signal.default_int_handler)


class Interruption:
    """Which signal has come, if any has."""

    def __init__(self) -> None:
        self.by: signal.Signals | None = None

    def listen(self) -> None:
        """From now on those signals interrupt; one that is ignored (nohup) stays so."""
        for number in _OURS:
            if signal.getsignal(number) in _UNTOUCHED:
                signal.signal(number, self._interrupt)

    def end(self, default: signal.Signals = signal.SIGINT) -> Never:
        """End this process by the signal that came, without waiting for threads."""
        number = self.by or default
        for other in _OURS:
            signal.signal(other, signal.SIG_IGN)
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        atexit._run_exitfuncs()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        os._exit(128 + number)  # where it is blocked

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.by = signal.Signals(number)
        if number == signal.SIGHUP:
            _forget_terminal()
        raise KeyboardInterrupt


def _forget_terminal() -> None:
    """A terminal that is gone answers writes with EIO, which would stop what is to be tidied up."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode):
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
