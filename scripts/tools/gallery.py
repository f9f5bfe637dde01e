"""Draw the figures of docs/figures.md by the commands that the page prints.

    python scripts/tools/gallery.py [--again]

A block of commands runs where a figure that its page shows below it is not there, or with --again;
`make docs` calls this script. The commands of this environment are used.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/figures.md"
_BLOCK = re.compile(r"^```sh\n(.*?)^```$(.*?)(?=^```sh|\Z)", re.DOTALL | re.MULTILINE)
_FIGURE = re.compile(r"!\[[^]]*\]\(([^)]+)\)")


def blocks(page: str) -> Iterator[tuple[str, list[Path]]]:
    """Commands, and the figures that follow them on the page."""
    for commands, text in _BLOCK.findall(page):
        yield commands, [(PAGE.parent / name).resolve() for name in _FIGURE.findall(text)]


def main() -> None:
    """Run the blocks whose figures are missing. Exits with the code of a command that failed."""
    parser = argparse.ArgumentParser(description="Make the figures of docs/figures.md.")
    parser.add_argument("--again", action="store_true", help="run all commands again")
    again = parser.parse_args().again
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
    for commands, figures in blocks(PAGE.read_text(encoding="utf-8")):
        if not again and all(figure.exists() for figure in figures):
            continue
        for figure in figures:
            figure.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["sh", "-ec", commands], cwd=ROOT, env={**os.environ, "PATH": path})
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
