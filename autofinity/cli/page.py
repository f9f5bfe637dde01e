"""Where commands print tables: on a terminal as wide as that is, in a pipe as wide as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofinity.cli.printer import page
from autofinity.foreign_text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

_FOLDED = 8
"""Characters that a column that folds gets on any terminal."""


def print_table(table: Table, console: Console | None = None) -> None:
    """Print a table, by default on a page of its own.

    Where it is too wide, cells of several words take several lines; words and numbers stay whole,
    but for columns that fold. On a terminal narrower than that, the terminal breaks the lines.
    """
    console = console or page()
    _, right, _, left = table.padding
    lines = len(table.columns) + 1 if table.box else 0
    least = sum(_keep_words(column) + left + right for column in table.columns) + lines
    width = console.width
    console.width = max(least, width)
    console.print(table)
    console.width = width


def _keep_words(column: Column) -> int:
    """Let a column break between words only; the least width that it needs for that."""
    from rich.cells import cell_len
    from rich.text import Text

    words = [
        printable(cell if isinstance(cell, str) else cell.plain).split()
        for cell in (column.header, *column.cells)
        if isinstance(cell, str | Text)
    ]
    longest = max((cell_len(word) for cell in words for word in cell), default=0)
    if column.overflow == "fold":
        return min(longest, _FOLDED)
    column.min_width = longest
    column.no_wrap = column.no_wrap or all(len(cell) < 2 for cell in words)
    return longest
