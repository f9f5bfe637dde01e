"""HTML for notebooks: lines and tables, with every name escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def lines_html(lines: Iterable[str]) -> str:
    """A paragraph with one line for each text."""
    return f"<p>{'<br>'.join(map(html.escape, lines))}</p>"


def table_html(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts, left-aligned."""
    left = ' style="text-align:left"'
    head = "".join(f"<th{left}>{html.escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(f"<td{left}>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
