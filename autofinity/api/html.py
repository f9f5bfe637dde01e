"""HTML for notebooks: our pictures and lines, with every name escaped."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

_PICTURE = '<pre style="line-height:1.2;font-family:monospace">{code}</pre>'


def picture_html(picture: Text, width: int) -> str:
    """A picture of boxes with its colours."""
    console = Console(record=True, file=io.StringIO(), width=width + 1, force_jupyter=False)
    console.print(picture, soft_wrap=True)
    return console.export_html(inline_styles=True, code_format=_PICTURE)


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
