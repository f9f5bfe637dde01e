"""README.md: short enough to be read, and every command runs as printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import compiled
from printed import Session, environment, first_missing, run, sessions

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
MAKE = re.compile(r"^make .*\n", re.MULTILINE)


def test_the_page_fits_on_two_screens() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110
    assert [line for line in lines if len(line) > 100] == []


def test_every_command_runs_as_printed(tmp_path: Path) -> None:
    env = environment(tmp_path)
    compiled([ROOT / "tests/smoke/spinner.c"], tmp_path / "spinner")
    app = tmp_path / "app"  # a crowded machine needs some seconds to start a monitor beside it
    app.write_text("#!/bin/sh\nexec ./spinner 2 3\n")
    app.chmod(0o755)
    ran = 0
    for session in sessions(README):
        for line in MAKE.findall(session.commands):
            print(f"not run here (tests/site/test_first_hour.py runs it): {line}", end="")
        commands = MAKE.sub("", session.commands)
        run(Session(session.line, commands, session.output, None), tmp_path, env)
        ran += commands.count("\n")
    assert ran >= 10


@pytest.mark.parametrize(
    ("expected", "printed", "missing"),
    [
        (("a  b",), "x\na b\n", None),
        (("a", "c"), "a\nb\nc\n", "c"),
        (("a", "…", "c"), "a\nb\nc\n", None),
        (("b", "a"), "a\nb\n", "a"),
        (("took … s",), "took 12 s\n", None),
        (("took … s",), "took 12 ms\n", "took … s"),
    ],
)
def test_a_printed_output_holds_where_its_lines_follow_each_other(
    expected: tuple[str, ...], printed: str, missing: str | None
) -> None:
    assert first_missing(expected, printed) == missing


def test_the_picture_shows_the_factors_that_its_command_prints() -> None:
    tool = [sys.executable, ROOT / "scripts/tools/placements.py", "--programs", "6"]
    printed = subprocess.run(tool, check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in printed.splitlines()]
    picture = (ROOT / "docs/figures/placements.svg").read_text(encoding="utf-8")
    for placement in ("packed", "spread"):
        factors = [(name, factor) for where, name, factor in rows if where == placement]
        assert f">{len(factors)} inputs are faster {placement}, by a factor of" in picture
        for name, factor in factors[:6]:
            assert f">{name}</text>" in picture
            assert f">{factor} ×</text>" in picture
