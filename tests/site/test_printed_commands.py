"""Commands of how-to and reference pages run as printed, and print what the pages say.

Those of the tutorial: test_first_hour.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from compiled import compiled
from printed import environment, run, sessions

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HOW_TO = sorted(path for path in (DOCS / "howto").glob("*.md") if path.stem != "index")
REFERENCE = [DOCS / "reference/exit-codes.md", DOCS / "reference/policy-format.md"]


@pytest.mark.parametrize("page", [*HOW_TO, *REFERENCE], ids=lambda path: path.stem)
def test_the_commands_of_a_page_run_as_printed(page: Path, tmp_path: Path) -> None:
    compiled([ROOT / "tests/smoke/spinner.c"], tmp_path / "app")
    env = environment(tmp_path)
    for name in ("data", "examples", "training"):
        (tmp_path / name).symlink_to(ROOT / name)
    ran = 0
    for session in sessions(page):
        if session.not_run is not None:
            print(f"not run: {page.name}, line {session.line}: {session.not_run}")
            continue
        run(session, tmp_path, env)
        ran += 1
    assert ran >= 1
