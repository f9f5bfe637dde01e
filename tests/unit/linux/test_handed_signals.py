"""Signals that come while a program is started and runs go to the program, or stay ours."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from autofinity.linux import handed_signals as module
from autofinity.linux.handed_signals import handed_signals, signals_are_for

ALL = [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP]


@pytest.fixture(autouse=True)
def none_ignored() -> Iterator[None]:
    """Tests that a shell starts in the background inherit SIGINT and SIGQUIT ignored."""
    ignored = [number for number in ALL if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_keyboard_is_ours", lambda: False)


def sleeper() -> subprocess.Popen[bytes]:
    """A program that each of the signals ends, whatever this process ignores."""
    return subprocess.Popen(["sleep", "60"], preexec_fn=_default)


def _default() -> None:
    for number in ALL:
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", ALL)
def test_a_signal_that_comes_before_the_program_is_known_reaches_the_program(number: int) -> None:
    with handed_signals() as hand_to:
        program = sleeper()
        os.kill(os.getpid(), number)
        hand_to(program.pid)
        assert program.wait(20) == -number


@pytest.mark.parametrize("number", ALL)
def test_a_signal_from_no_terminal_reaches_the_program(number: int) -> None:
    program = sleeper()
    with signals_are_for(program.pid):
        os.kill(os.getpid(), number)
        assert program.wait(20) == -number


def test_a_signal_is_ours_where_no_program_could_be_started() -> None:
    got: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: got.append(number))
    try:
        with handed_signals():
            os.kill(os.getpid(), signal.SIGTERM)
            assert got == []
        assert got == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_keys_of_our_terminal_reach_the_program_from_there_and_not_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_keyboard_is_ours", lambda: True)
    program = sleeper()
    with signals_are_for(program.pid):
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            program.wait(0.3)
        os.kill(os.getpid(), signal.SIGTERM)
        assert program.wait(20) == -signal.SIGTERM


@pytest.mark.parametrize("number", ALL)
def test_a_signal_that_comes_after_the_end_of_the_program_is_no_error(number: int) -> None:
    program = sleeper()
    with signals_are_for(program.pid):
        program.kill()
        program.wait()
        os.kill(os.getpid(), number)


def test_what_is_ignored_as_under_nohup_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with handed_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
