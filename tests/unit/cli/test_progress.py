"""Progress of long work, as terminals and logs show it."""

from __future__ import annotations

import io
import re
import threading
import time
from contextlib import redirect_stderr

import pytest

from autofinity.cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_has_a_line_for_each_tenth_that_was_made_and_none_for_what_was_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now_s = 0.0
    with progress("profile", 40, clock_s=lambda: now_s) as bar:
        for _ in range(20):
            bar.found()
        for number in range(20):
            now_s += 10
            bar.step(f"cell {number}")
    assert capsys.readouterr().err.splitlines() == [
        "profile: 24/40  40 s, some 3 min left  cell 3",
        "profile: 28/40  80 s, some 2 min left  cell 7",
        "profile: 32/40  120 s, some 80 s left  cell 11",
        "profile: 36/40  160 s, some 40 s left  cell 15",
        "profile: 40/40  200 s",
    ]


def test_what_was_there_does_not_make_the_rest_look_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    now_s = 0.0
    with redirect_stderr(terminal), progress("profile", 300, clock_s=lambda: now_s) as bar:
        for _ in range(100):
            bar.found()
        for _ in range(4):
            now_s += 10
            bar.step("cell")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    last = shown.replace("\r", "\n").strip().splitlines()[-1]
    assert "104/300" in last
    assert "0:32:40" in last  # 196 more at 10 s each, not at 4 s


def test_beside_json_a_terminal_has_a_bar_and_a_log_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with redirect_stderr(terminal), progress("compare", 3, quiet=True) as bar:
        bar.step("case")
    assert "1/3" in terminal.getvalue()
    with progress("compare", 1, quiet=True) as bar:
        bar.step("case")
    assert capsys.readouterr().err == ""


def test_a_log_says_that_work_goes_on_while_nothing_finishes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = threading.Event()

    def clock_s() -> float:
        return 0.0 if not told.is_set() else 75.0

    with progress("profile", 3, clock_s=clock_s, still_s=0.01) as bar:
        bar.step("first")
        told.set()
        until = time.monotonic() + 60
        said = ""
        while "still running" not in said and time.monotonic() < until:
            said += capsys.readouterr().err
            time.sleep(0.01)
    assert "profile: 1/3  75 s  still running" in said.splitlines()
