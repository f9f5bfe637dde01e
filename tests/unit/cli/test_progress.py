"""Progress of long work, as terminals and logs show it."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from autofinity.cli import progress as module
from autofinity.cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_has_a_line_for_each_tenth_that_was_made_and_none_for_what_was_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress("profile", 40) as bar:
        for _ in range(20):
            bar.found()
        for number in range(20):
            bar.step(f"cell {number}")
    lines = capsys.readouterr().err.splitlines()
    assert [re.sub(r"\d+ s", "", line) for line in lines] == [
        "profile: 24/40    cell 3",
        "profile: 28/40    cell 7",
        "profile: 32/40    cell 11",
        "profile: 36/40    cell 15",
        "profile: 40/40  ",
    ]


def test_what_was_there_does_not_make_the_rest_look_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    now = [0.0]
    console = Console(file=terminal, force_terminal=True, width=120)
    console.get_time = lambda: now[0]  # type: ignore[method-assign]
    monkeypatch.setattr(module.sys, "stderr", terminal)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    with progress("profile", 300) as bar:
        for _ in range(100):
            bar.found()
        for _ in range(4):
            now[0] += 10
            bar.step("cell")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    last = shown.replace("\r", "\n").strip().splitlines()[-1]
    assert "104/300" in last
    assert "0:32:40" in last  # 196 more at 10 s each, not at 4 s
