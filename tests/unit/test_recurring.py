"""A call recurs while a block runs: after one wait, then after another each time, never later."""

from __future__ import annotations

import signal
import threading

import pytest

from autofinity.recurring import recurring

LONG_S = 3600.0


def test_the_call_recurs_until_the_block_ends() -> None:
    called, again = [], threading.Event()

    def call() -> None:
        called.append(len(called))
        if len(called) >= 3:
            again.set()

    with recurring(call, 0.0, 0.001):
        assert again.wait(60)
    count = len(called)
    again.clear()
    assert not again.wait(0.05)
    assert len(called) == count >= 3


def test_nothing_is_called_in_a_block_that_ends_before_the_first_wait() -> None:
    called: list[int] = []
    with recurring(lambda: called.append(1), LONG_S, LONG_S):
        pass
    assert called == []


def test_the_first_wait_differs_from_the_others() -> None:
    called: list[int] = []
    first = threading.Event()

    def call() -> None:
        called.append(1)
        first.set()

    with recurring(call, 0.0, LONG_S):
        assert first.wait(60)
    assert called == [1]


def test_signals_are_left_to_other_threads() -> None:
    blocked: list[set[int]] = []
    done = threading.Event()

    def call() -> None:
        blocked.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))
        done.set()

    with recurring(call, 0.0, LONG_S):
        assert done.wait(60)
    assert {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD} <= blocked[0]


def test_an_error_of_the_block_passes_and_ends_the_calls() -> None:
    called: list[int] = []
    with pytest.raises(KeyError), recurring(lambda: called.append(1), LONG_S, LONG_S):
        raise KeyError
    assert called == []
