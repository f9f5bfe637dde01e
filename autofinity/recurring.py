"""A call that recurs while a block runs, as long work that says it goes on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def recurring(call: Callable[[], None], first_s: float, again_s: float) -> Iterator[None]:
    """For the time of the block, `call` after `first_s`, then every `again_s`, in another thread.

    No call is under way when the block has ended.
    """
    ended = threading.Event()

    def recur() -> None:
        # A signal that this thread got would not end the wait of the main one, which heeds it.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        wait_s = first_s
        while not ended.wait(wait_s):
            wait_s = again_s
            call()

    thread = threading.Thread(target=recur, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
