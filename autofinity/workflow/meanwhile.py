"""Notices on a program that runs long. A bar would be in the way of the output of the program."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from autofinity.recurring import recurring
from autofinity.reporter import Reporter

FIRST_S, AGAIN_S = 10.0, 60.0


def told_meanwhile(
    name: str, what: Callable[[], str], reporter: Reporter, has: str = "has run"
) -> AbstractContextManager[None]:
    """Give a notice after `FIRST_S`, and every `AGAIN_S`, for the time of the block: how long the
    program `has` run or been watched, and `what` is done with the program.
    """
    begin_s = time.monotonic()

    def tell() -> None:
        reporter.notice(f"{name} {has} for {time.monotonic() - begin_s:.0f} s; {what()}")

    return recurring(tell, FIRST_S, AGAIN_S)
