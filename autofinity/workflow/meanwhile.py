"""Notices on a program that runs long. A bar would be in the way of the output of the program."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from autofinity.reporter import Reporter

FIRST_S, AGAIN_S = 10.0, 60.0


@contextmanager
def told_meanwhile(name: str, what: Callable[[], str], reporter: Reporter) -> Iterator[None]:
    """Give a notice after `FIRST_S`, and every `AGAIN_S`, for the time of the block: how long the
    program has run, and `what` is done with the program.
    """
    ended = threading.Event()
    begin_s = time.monotonic()

    def tell() -> None:
        # A signal that this thread got would not end the wait of the main one, which forwards it.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        wait_s = FIRST_S
        while not ended.wait(wait_s):
            wait_s = AGAIN_S
            reporter.notice(f"{name} has run for {time.monotonic() - begin_s:.0f} s; {what()}")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
