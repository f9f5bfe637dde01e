"""Interruptions from outside: Ctrl-C, SIGQUIT, a batch system's SIGTERM, a terminal that is closed.

All of them are a `KeyboardInterrupt` to the command, so that programs it started end with it and
what is half written goes; afterwards the process ends by that very signal, as its parent expects: a
shell's loop stops, and a batch system sees why.

    signal ─► handler: KeyboardInterrupt in the main thread ─► tidied up ─► ended by the signal
       └────► watcher, a second later: is the main thread in native code? then ended as it is
"""

from __future__ import annotations

import atexit
import ctypes
import os
import select
import signal
import stat
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Never

import click

from autofinity.cli.printer import complain

_OURS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
_UNTOUCHED = (signal.SIG_DFL, signal.default_int_handler)


_PATIENCE_S = 1.0
"""In which the main thread notices a signal, unless native code keeps it."""
_LATER_S = 0.02


class Interruption:
    """Which signal has come, if any has."""

    def __init__(self) -> None:
        self.keeps = False
        """Whether the work keeps what it has made so far, and goes on from there when its command
        is called again."""
        self._by: signal.Signals | None = None
        self._since_s = 0.0

    @property
    def said(self) -> str:
        """The last line of a command that is ended."""
        if not self.keeps:
            return "interrupted"
        return "interrupted; recorded results are kept, and the same command goes on from there"

    def caused(self, error: BaseException | None) -> bool:
        """Whether the error is the interruption itself, as others hand it on: a package's native
        part that is interrupted while it is loaded raises an `ImportError`.
        """
        if self._by is None:
            return False
        handed_on = isinstance(error, ImportError)
        while error is not None and not handed_on:
            handed_on = isinstance(error, KeyboardInterrupt)
            error = error.__cause__
        return handed_on

    def listen(self) -> None:
        """From now on those signals interrupt, also before this returns; one that is ignored
        (nohup) stays so.

        Python's handlers run between two steps of the main thread. Native code that is at work for
        minutes is no step, so another thread looks whether the handler has run.
        """
        came, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, args=(came,), daemon=True).start()
        for number in _OURS:
            if signal.getsignal(number) in _UNTOUCHED:
                signal.signal(number, self._interrupt)

        sys.unraisablehook = self._again

    def stop_listening(self) -> None:
        """From now on those signals end this process at once: there is nothing to tidy up."""
        for number in _OURS:
            if signal.getsignal(number) == self._interrupt:
                signal.signal(number, signal.SIG_DFL)

    def end(self, number: signal.Signals | None = None) -> Never:
        """End this process by that signal (None: the signal that came); wait for no thread.

        In any thread.
        """
        number = number or self._by or signal.SIGINT
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        atexit._run_exitfuncs()
        ctypes.CDLL(None).signal(int(number), None)  # Python's own serves the main thread only
        os.kill(os.getpid(), number)
        os._exit(128 + number)  # where it is blocked

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._by is None:
            self._by, self._since_s = signal.Signals(number), time.monotonic()
            if number == signal.SIGHUP:
                _forget_terminal()
            raise KeyboardInterrupt
        # Who presses Ctrl-C twice at once does not keep us from tidying up; who does so again after
        # a while is tired of waiting.
        if time.monotonic() - self._since_s > _PATIENCE_S:
            self.end(signal.Signals(number))

    def _again(self, lost: sys.UnraisableHookArgs) -> None:
        """Interrupt again a little later where the exception was raised in a callback of Python's
        own, as of an import, which drops it.
        """
        if self._by is None or not issubclass(lost.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(lost)
            return
        number, self._by = self._by, None
        later = threading.Timer(_LATER_S, os.kill, (os.getpid(), number))
        later.daemon = True
        later.start()

    def _watch(self, came: int) -> None:
        # A signal that this thread got would not end what the main thread waits in.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        number = 0
        while number not in _OURS or signal.getsignal(number) != self._interrupt:
            number = os.read(came, 1)[0]  # of who handles it otherwise, it is theirs
        time.sleep(_PATIENCE_S)
        if self._by is None:
            complain(self.said)
            self.end(signal.Signals(number))
        then = "will be finished and kept" if self.keeps else "are ended"
        complain(f"interrupted; present runs {then}; Ctrl-C again ends at once")


def keeps_results(keeps: bool = True) -> None:
    """Say of the command under way whether its work keeps results run by run from now on."""
    interruption = click.get_current_context().find_object(Interruption)
    if interruption is not None:
        interruption.keeps = keeps


def _forget_terminal() -> None:
    """A terminal that is gone answers writes with EIO, which would stop what is to be tidied up.

    One that is still there (`kill -HUP`) gets its screen back, so it is kept.
    """
    for descriptor in (1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode) and _hung_up(descriptor):
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _hung_up(descriptor: int) -> bool:
    asked = select.poll()
    asked.register(descriptor, 0)
    return any(events & select.POLLHUP for _, events in asked.poll(0))
