"""Print a table of Markdown line by line, and put it between its marks in a document."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from autofinity.report.marked import put_between_marks


def add_into(words: argparse.ArgumentParser) -> None:
    """The option `--into`."""
    words.add_argument(
        "--into", type=Path, metavar="DOCUMENT", help="put tables between their marks in it, too"
    )


def show_table(lines: Iterable[str], into: Path | None, command: str) -> list[str]:
    """Print each line as soon as it is known; then put all between the marks of `command` in the
    document, where one is named. Returns the lines.
    """
    seen = []
    for line in lines:
        seen.append(line)
        print(line, flush=True)
    if into is not None:
        put_between_marks(into, command, "\n".join(seen))
    return seen
