"""Long work says what it is at."""

from __future__ import annotations

import time

from told import Told

from autofinity.workflow.meanwhile import told_of_long_steps


def test_a_step_that_takes_long_is_named_and_a_short_one_is_not() -> None:
    told = Told()
    with told_of_long_steps(told, long_s=0.4) as begins:
        begins("the build of lu has gone on")
        begins("lu has run under capture")
        until = time.monotonic() + 60
        while not told.notices and time.monotonic() < until:
            time.sleep(0.02)
    assert {notice.split(" for ")[0] for notice in told.notices} == {"lu has run under capture"}
