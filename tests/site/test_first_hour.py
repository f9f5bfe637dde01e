"""The first hour from a fresh clone, as printed: README, with `make demo`, and the tutorial."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import compiled
from printed import Session, new_user, run, sessions

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
LESSONS = ("index", "first-policy", "own-program", "own-suite")
AFTER_DEMO = (
    "make",
    "make setup",
    ".venv/bin/python scripts/tools/placements.py -o docs/figures/placements.svg",
)
"""Commands within sentences of README that a reader may try once the demo has run."""
ELSEWHERE = ("pip install '.[plots]'",)
"""The same, for an environment of the reader's own."""
NOT_HERE = {
    "make demo": "a block of commands has it",
    "pip install .": "the same with an extra is run",
    "make docs": "`make test-docs` runs it",
    "make test": "it is all other tests",
}
OWN = {"?? app", "?? spinner"}
"""Files that the reader brings: README's `./app`."""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of all that is committed, and a program of the reader."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git repository to clone")
    folder = tmp_path / "autofinity"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    compiled([ROOT / "tests/smoke/spinner.c"], folder / "spinner")
    app = folder / "app"
    app.write_text("#!/bin/sh\nexec ./spinner 2 3\n")
    app.chmod(0o755)
    return folder


def reader(folder: Path) -> dict[str, str]:
    """Environment of a user who has a Python, and nothing of autofinity."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    others = [each for each in folders if each != f"{sys.prefix}/bin"]
    env = new_user(folder) | {"PATH": os.pathsep.join([f"{sys.base_prefix}/bin", *others])}
    env.pop("VIRTUAL_ENV", None)
    return env


def pasted(document: Path) -> Session:
    """All blocks of commands of a document, in one shell."""
    blocks = list(sessions(document))
    return Session(blocks[0].line, "".join(each.commands for each in blocks), (), None)


def test_readme_from_a_fresh_clone_and_then_the_tutorial(clone: Path, tmp_path: Path) -> None:
    env = reader(tmp_path)
    printed = run(pasted(README), clone, env, timeout_s=5400)
    print(printed)
    holds_setup(printed)
    holds_progress(printed)
    holds_results(printed)
    targets = run(Session(0, "\n".join(AFTER_DEMO), (), None), clone, env)
    assert "\ndemo  " in targets and "Nothing to be done for 'setup'" in targets
    activated = env | {"PATH": f"{clone}/.venv/bin:{env['PATH']}"}
    for lesson in LESSONS:
        for session in sessions(clone / f"docs/tutorial/{lesson}.md"):
            run(session, clone, activated)
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True
    )
    assert set(changed.stdout.splitlines()) == OWN


def test_readme_in_an_environment_of_the_readers_own(clone: Path, tmp_path: Path) -> None:
    env = reader(tmp_path)
    made = ["python3 -m venv own", ". own/bin/activate", *ELSEWHERE, "autofinity --version"]
    picture = "autofinity map --matrix sharing.csv --machine opteron-6164he -o x.png"
    (clone / "sharing.csv").write_text("0,9,0,0\n9,0,0,0\n0,0,0,9\n0,0,9,0\n")
    run(Session(0, "\n".join([*made, picture]), (), None), clone, env, timeout_s=3600)
    assert (clone / "x.png").read_bytes().startswith(b"\x89PNG")


def test_every_command_within_a_sentence_of_readme_is_run_or_has_a_reason() -> None:
    text = re.sub(r"^```.*?^```$", "", README.read_text(encoding="utf-8"), flags=re.S | re.M)
    spans = {" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)}
    commands = {span for span in spans if re.match(r"make$|(?:make|pip|\.venv/\S+) ", span)}
    assert commands == {*AFTER_DEMO, *ELSEWHERE, *NOT_HERE}


@pytest.mark.parametrize("lesson", LESSONS)
def test_commands_with_words_within_a_sentence_of_a_lesson_are_run_too(lesson: str) -> None:
    text = (ROOT / f"docs/tutorial/{lesson}.md").read_text(encoding="utf-8")
    fence = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
    blocks = "\n".join(fence.findall(text))
    for span in re.findall(r"`([^`]+)`", fence.sub("", text)):
        command = " ".join(span.split())
        if re.match(r"autofinity \S+ .", command):
            assert command in blocks


def holds_setup(printed: str) -> None:
    """The set-up is as README says: a Python is found, `.venv` made, autofinity installed."""
    assert re.search(r"^setup: Python 3\.\d+\.\d+ at /", printed, re.MULTILINE)
    assert re.search(r"^setup: done in \d+ s; the command is \.venv/bin/autofinity", printed, re.M)


def holds_progress(printed: str) -> None:
    """Each step of the demo begins, in order, and its work is counted to the end."""
    steps = [int(number) for number in re.findall(r"^([1-9])\. [A-Z]", printed, re.MULTILINE)]
    assert steps == [1, 2, 3, 4, 5]
    for work in ("capture 8t", "estimate", "profile", "judge"):
        done, due = re.findall(rf"^{work}: (\d+)/(\d+)", printed, re.MULTILINE)[-1]
        assert done == due, work
    assert re.search(r"^Done in \d+ s \(set-up not counted\)\. Next:$", printed, re.MULTILINE)


def holds_results(printed: str) -> None:
    """The demo's result is one of those that docs/results.md lists for it."""
    row = re.search(
        r"^\| the demo, .*; ([\d, and]+) of (\d+) interesting cases won, "
        r"([\d.]+) to ([\d.]+) of the oracle of the five placements of the hints",
        (ROOT / "docs/results.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    got = re.search(
        r"^rerun with the chosen placement: (\d+) of (\d+) interesting cases won, "
        r"[\d.]+ of the best hint, ([\d.]+) of the oracle$",
        printed,
        re.MULTILINE,
    )
    assert row is not None and got is not None
    most_lost = int(row[2]) - min(map(int, re.findall(r"\d+", row[1])))
    assert int(got[2]) - int(got[1]) <= most_lost
    assert float(got[3]) >= float(row[3])
