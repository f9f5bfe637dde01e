"""Tables in Markdown, line by line: `heading` first, then a `row` each."""

from __future__ import annotations


def heading(*names: str) -> str:
    """The names of the columns, and the line below them."""
    return f"{row(*names)}\n|{'---|' * len(names)}"


def row(*cells: str) -> str:
    """A line of the table."""
    return f"| {' | '.join(cells)} |"
