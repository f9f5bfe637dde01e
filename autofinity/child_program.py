"""A child program that does not outlive the block that uses it.

An interruption is an exception of the main thread at any step, also inside `Popen`, where the
program already runs but the caller does not have its object yet: the program would run on. So
interruptions wait until the object is known.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

_INTERRUPTING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_KILLED_S = 5.0
"""In which killed processes of a session have ended. Those that nobody reaps, as in a container
whose first process does not, stay as zombies and are not awaited longer."""
_POLL_S = 0.005


class ChildProgram:
    """Context manager of a child: the child is killed and awaited when the block is left.

    Use: `with ChildProgram(argv) as process:`. The class is no generator: an interruption between a
    generator's `yield` and the block would leave the program running.
    """

    def __init__(
        self, argv: Sequence[str | os.PathLike[str]], *, own_session: bool, **options: Any
    ) -> None:
        """`own_session`: no signals of a terminal reach the child, and its own children are killed
        and awaited with it.

        `options` are those of `subprocess.Popen`.
        """
        self._argv, self._own_session, self._options = argv, own_session, options
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> subprocess.Popen[bytes]:
        """Start the program. Raises `OSError` when it cannot be started."""
        try:
            with _interruptions_wait():
                process = self._process = subprocess.Popen(
                    self._argv, start_new_session=self._own_session, **self._options
                )
        except BaseException:
            self.__exit__()
            raise
        return process

    def __exit__(self, *error: object) -> None:
        if self._process is None:
            return
        if not self._own_session:
            self._process.kill()
            self._process.wait()
            return
        group = self._process.pid
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        self._process.wait()
        _await_group(group)


def exit_code_of(status: int) -> int:
    """Exit code of a child's wait status, as shells have it: 128 + n for signal n."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _await_group(group: int) -> None:
    """Wait for killed processes that are no children of ours, which `waitpid` does not await."""
    until_s = time.monotonic() + _KILLED_S
    with suppress(ProcessLookupError, PermissionError):
        while time.monotonic() < until_s:
            os.killpg(group, 0)
            time.sleep(_POLL_S)


@contextmanager
def _interruptions_wait() -> Iterator[None]:
    """Delay signals with Python handlers until the context ends.

    The signals are not blocked, for the program would inherit the mask.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # no interruption is raised in this thread
        return
    came: list[int] = []
    handlers = {int(n): found for n in _INTERRUPTING if callable(found := signal.getsignal(n))}
    for number in handlers:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came:
            handlers[number](number, None)
