"""Notices on a program that runs long. A bar would be in the way of the output of the program."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

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


@contextmanager
def told_of_long_steps(
    reporter: Reporter, long_s: float = AGAIN_S
) -> Iterator[Callable[[str], None]]:
    """Give a notice every `long_s`, for the time of the block, of a step that takes as long.

    Gives a function that is called where a step begins, with words such as "lu has run".
    """
    step, begin_s = "", 0.0

    def begins(what: str) -> None:
        nonlocal step, begin_s
        step, begin_s = what, time.monotonic()

    def tell() -> None:
        taken_s = time.monotonic() - begin_s
        if step and taken_s >= long_s:
            reporter.notice(f"{step} for {taken_s:.0f} s")

    with recurring(tell, long_s, long_s):
        yield begins
