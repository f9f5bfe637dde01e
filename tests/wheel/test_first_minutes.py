"""The first five minutes of the README, with nothing but the wheel."""

from __future__ import annotations

from pathlib import Path

from compiled import compiled
from login_node import LoginNode
from printed import run, sessions

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
HEADING = "## The first five minutes"


def test_every_command_of_the_first_five_minutes_runs_as_printed(
    login_node: LoginNode, tmp_path: Path
) -> None:
    compiled([ROOT / "tests/smoke/spinner.c"], tmp_path / "spinner")  # on another machine
    app = tmp_path / "app"
    app.write_text("#!/bin/sh\nexec ./spinner 2 3\n")
    app.chmod(0o755)
    environment = login_node.environment | {
        "HOME": str(tmp_path),
        "PATH": f"{login_node.venv}/bin:{login_node.environment['PATH']}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    lines = README.read_text(encoding="utf-8").splitlines()
    first = lines.index(HEADING)
    last = next(n for n in range(first + 1, len(lines)) if lines[n].startswith("## "))
    ran = 0
    for session in sessions(README):
        if first < session.line <= last:
            run(session, tmp_path, environment)
            ran += session.commands.count("\n")
    assert ran >= 9
