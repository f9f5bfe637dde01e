"""Every page of the built site fits a browser window of 1,280 pixels, and shows its pictures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest

from autofinity.cli.main import COMMANDS

WIDTH = 1280
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LIMIT_S = 1200
# One browser opens all pages, one after another, in a frame as wide as the window.
OPENER = """<!doctype html><meta charset="utf-8"><title>pages</title>
<iframe id="frame" width="%d" height="900" style="border: 0"></iframe><pre id="seen"></pre>
<script>
const pages = %s, seen = [], frame = document.getElementById("frame");
function look() {
    const page = frame.contentDocument;
    seen.push({
        page: pages[seen.length],
        title: page.title,
        width: page.documentElement.scrollWidth,
        clipped: [...page.querySelectorAll("pre, .table-wrapper")]
            .filter((box) => box.scrollWidth > box.clientWidth + 1)
            .map((box) => box.textContent.slice(0, 80)),
        blank: [...page.images].filter((image) => !image.naturalWidth).map((image) => image.src),
    });
    next();
}
function next() {
    if (seen.length < pages.length) frame.src = pages[seen.length];
    else document.getElementById("seen").textContent = JSON.stringify(seen);
}
frame.addEventListener("load", () => frame.src && look());
next();
</script>
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as a browser shows it."""

    page: str
    title: str
    width: int
    """Width of all that it holds, in pixels."""
    clipped: list[str]
    """First letters of tables and blocks of code that show only with a scroll bar."""
    blank: list[str]
    """Pictures that do not show."""


def browser() -> str:
    """The command of a browser. Skips the test where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: expected one of {', '.join(BROWSERS)}")
    return found


def opened(pages: list[Path], folder: Path) -> list[Seen]:
    """Each page, opened by a browser."""
    opener = folder / "pages.html"
    urls = [path.resolve().as_uri() for path in pages]
    opener.write_text(OPENER % (WIDTH, json.dumps(urls)), encoding="utf-8")
    command = [
        browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--allow-file-access-from-files", f"--user-data-dir={folder / 'profile'}",
        f"--window-size={WIDTH + 40},1000", f"--virtual-time-budget={2000 * len(pages)}",
        "--dump-dom", opener.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    said = re.search(r'<pre id="seen">(.+?)</pre>', done.stdout, re.DOTALL)
    assert said is not None, f"the browser did not open all pages: {done.stderr[-2000:]}"
    return [Seen(**each) for each in json.loads(unescape(said[1]))]


def test_every_command_has_a_page(pages: list[Path]) -> None:
    named = {path.stem for path in pages if path.parent.name == "commands"}
    assert named >= set(COMMANDS)


def test_nothing_is_wider_than_the_window_and_every_picture_shows(
    pages: list[Path], tmp_path: Path
) -> None:
    seen = opened(pages, tmp_path)
    assert len(seen) == len(pages)
    assert [each for each in seen if each.width > WIDTH or each.clipped] == []
    assert [each for each in seen if each.blank] == []
    assert [each for each in seen if not each.title] == []


def test_a_page_that_is_too_wide_and_a_picture_that_is_not_there_are_found(tmp_path: Path) -> None:
    wide, narrow = tmp_path / "wide.html", tmp_path / "narrow.html"
    wide.write_text('<title>w</title><div style="width: 2000px">wide</div>')
    narrow.write_text(
        '<title>n</title><img src="gone.svg"><pre style="width: 9em; overflow: auto">'
        + "much too long a line </pre>"
    )
    seen = opened([wide, narrow], tmp_path)
    assert [each.width > WIDTH for each in seen] == [True, False]
    assert [len(each.blank) for each in seen] == [0, 1]
    assert [each.clipped for each in seen] == [[], ["much too long a line "]]
