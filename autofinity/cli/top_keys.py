"""The terminal of a live view: single keys, and a change of its size, are noticed at once.

The terminal's settings are put back in any case, also while the process is stopped (Ctrl-Z).
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from autofinity.report.live_browsing import Key, keys_in

_MOST_BYTES = 1024
_NOTICED: dict[int, Key] = {
    signal.SIGWINCH: "redraw",
    signal.SIGTSTP: "suspend",
    signal.SIGCONT: "resume",
}


class Keyboard:
    """Keys of standard input, which is a terminal, and the signals of `_NOTICED` as keys.

    Numbers of signals come through Python's wakeup descriptor: a handler of Python's runs between
    two steps of the main thread only, and a signal that comes just before `select`, or to another
    thread, ends no `select`.
    """

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._input)
        self._came, self._noticed = os.pipe()
        os.set_blocking(self._noticed, False)
        self._woken = signal.set_wakeup_fd(self._noticed, warn_on_full_buffer=False)

    def begin(self) -> None:
        """Let keys come one by one, without an echo."""
        tty.setcbreak(self._input)

    def restore(self) -> None:
        """Put the terminal's settings back; a terminal that is gone needs none."""
        with suppress(termios.error, OSError):
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)

    def wait(self, seconds: float) -> list[Key]:
        """Keys, as soon as some come; none after this time. A closed input is `quit`."""
        ready, _, _ = select.select([self._input, self._came], [], [], max(0.0, seconds))
        found: list[Key] = []
        if self._came in ready:
            numbers = set(os.read(self._came, _MOST_BYTES))
            found += [key for number, key in _NOTICED.items() if number in numbers]
        if self._input in ready:
            try:
                data = os.read(self._input, _MOST_BYTES)
            except OSError:
                data = b""
            found += keys_in(data) if data else ["quit"]
        return found

    def close(self) -> None:
        """Close what was opened."""
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        os.close(self._came)
        os.close(self._noticed)


def _noticed_as_key(number: int, frame: FrameType | None) -> None:
    """Stand as a handler, so that Python writes the number to the wakeup descriptor."""


@contextmanager
def keyboard() -> Iterator[Keyboard]:
    """The keyboard, for the time of the block."""
    keys = Keyboard()
    handlers = {number: signal.signal(number, _noticed_as_key) for number in _NOTICED}
    try:
        keys.begin()
        yield keys
    finally:
        keys.restore()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        keys.close()
