"""A fault of ours is one line, and its report is where only its user reads it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAULTY = (
    "import sys\nfrom autofinity.cli.errors import reported\n"
    "def fail():\n    raise ZeroDivisionError('of \\x1b[2J something\\nelse')\n"
    "reported(fail)\n"
)


def faulty(folder: Path, *words: str, **environment: str) -> str:
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), **environment}
    done = subprocess.run(
        [sys.executable, "-c", FAULTY, *words], env=env, capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.count("\n") == 1 and done.stderr.replace("\n", "").isprintable()
    return done.stderr


def test_a_fault_of_ours_is_one_line_that_says_where_its_report_is(tmp_path: Path) -> None:
    said = faulty(tmp_path)
    assert said.startswith("autofinity: internal error of autofinity: ZeroDivisionError")
    (report,) = (tmp_path / "state" / "autofinity").glob("fault-*.txt")
    assert said.endswith(f"the report is kept in {report}\n")
    assert report.stat().st_mode & 0o777 == 0o600
    text = report.read_text()
    assert "Traceback" in text and "in fail" in text and "command: " in text


@pytest.mark.parametrize("state", ["/dev/null", "", "/proc/self"])
def test_without_a_state_folder_the_report_is_kept_elsewhere(tmp_path: Path, state: str) -> None:
    said = faulty(tmp_path, XDG_STATE_HOME=state, HOME=state, TMPDIR=str(tmp_path))
    (report,) = tmp_path.glob("fault-*.txt")
    assert said.endswith(f"the report is kept in {report}\n")


@pytest.mark.parametrize(
    "word",
    [
        "postgresql://me:secret@host/runs",
        "postgres://host/runs?password=secret",
        "Postgresql://me:secret@host/runs",
        "host=h password=secret",
    ],
)
def test_a_report_which_users_send_to_others_has_no_password(word: str, tmp_path: Path) -> None:
    faulty(tmp_path, "push", "--db", word, f"--db={word}")
    (report,) = (tmp_path / "state" / "autofinity").glob("fault-*.txt")
    assert "push --db" in report.read_text()
    assert "secret" not in report.read_text()
