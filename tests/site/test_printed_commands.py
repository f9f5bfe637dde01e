"""Commands of the tutorial and the how-to pages run as printed, and print what the pages say."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiled import compiled
from printed import environment, run, sessions

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HOW_TO = sorted(path for path in (DOCS / "howto").glob("*.md") if path.stem != "index")
REFERENCE = [DOCS / "reference/exit-codes.md", DOCS / "reference/policy-format.md"]


def run_all(pages: list[Path], folder: Path) -> int:
    """Run all sessions of pages, one after another; their number."""
    env = environment(folder)
    for name in ("data", "training"):
        (folder / name).symlink_to(ROOT / name)
    ran = 0
    for page in pages:
        for session in sessions(page):
            if session.not_run is not None:
                print(f"not run: {page.name}, line {session.line}: {session.not_run}")
                continue
            run(session, folder, env)
            ran += 1
    return ran


def test_the_tutorial_runs_from_its_first_command_to_its_last(tmp_path: Path) -> None:
    lessons = ("index", "first-policy", "own-program", "own-suite")
    assert run_all([DOCS / f"tutorial/{name}.md" for name in lessons], tmp_path) >= 15


@pytest.mark.parametrize("page", [*HOW_TO, *REFERENCE], ids=lambda path: path.stem)
def test_the_commands_of_a_page_run_as_printed(page: Path, tmp_path: Path) -> None:
    compiled([ROOT / "tests/smoke/spinner.c"], tmp_path / "app")
    assert run_all([page], tmp_path) >= 1
