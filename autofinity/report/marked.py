"""Tables in documents that a command keeps up to date, between two marks that name it.

<!-- begin: scripts/policies.py -->
| … |
<!-- end: scripts/policies.py -->
"""

from __future__ import annotations

from pathlib import Path

from autofinity.model.errors import UsageError
from autofinity.whole_file import replace_file


def put_between_marks(path: Path, command: str, table: str) -> None:
    """Replace what is between the marks of `command` in a document.

    Raises `UsageError` when the document lacks them, `OSError` when it cannot be read or written.
    """
    text = path.read_text(encoding="utf-8")
    try:
        replace_file(path, between_marks(text, command, table))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def between_marks(text: str, command: str, table: str) -> str:
    """The text of a document with the table between the marks. Raises `UsageError` without
    marks.
    """
    begin, end = f"<!-- begin: {command} -->\n", f"<!-- end: {command} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise UsageError(f"expected the lines {begin.strip()} and {end} around the table")
    return f"{before}{begin}{table.strip()}\n{end}{after}"
