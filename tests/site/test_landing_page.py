"""Commands that the first page of the documents shows run as printed, and make its pictures."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from browser import MISSING, browser_here
from printed import Session, environment, run

ROOT = Path(__file__).resolve().parents[2]
LIVE = ("autofinity top", "autofinity top last")
"""Commands that go on until a key is pressed; the picture of both is taken."""


def test_every_command_of_the_first_page_runs_and_its_pictures_are_taken(tmp_path: Path) -> None:
    if browser_here() is None:
        pytest.skip(MISSING)
    if not (ROOT / ".git").exists():
        pytest.skip("no git repository to clone")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    text = (clone / "docs/index.md").read_text(encoding="utf-8")
    shown = {" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)}
    commands = {span for span in shown if re.match(r"(?:autofinity|\.venv/\S+) ", span)}
    assert {*LIVE} < commands
    pictures = [clone / f"docs/pictures/{name}" for name in ("top.svg", "report.png")]
    for picture in pictures:
        assert f"]({picture.relative_to(clone / 'docs')})" in text
        picture.unlink()
    session = Session(0, "\n".join(sorted(commands - {*LIVE})), (), None)
    run(session, clone, environment(clone))
    assert "Policy opteron-6164he: answer for a sample" in (clone / "page.html").read_text()
    svg, png = (picture.read_bytes() for picture in pictures)
    assert b"$&#160;autofinity&#160;top&#160;last" in svg
    assert png.startswith(b"\x89PNG") and len(png) > 50_000
