"""HTML for notebooks: lines, tables and bars, with every name escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence


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


def bars_html(heading: str, values: Mapping[str, float], form: str = "{:.3g}") -> str:
    """Bars from 0 to the right, one for each name, with the number behind; NaN has no bar."""
    most = max((value for value in values.values() if math.isfinite(value)), default=0.0)
    rows = []
    for name, value in values.items():
        width = round(240 * value / most) if math.isfinite(value) and most > 0 else 0
        bar = f'<div style="display:inline-block;width:{width}px;height:10px;background:#3b7a94">'
        said = form.format(value) if math.isfinite(value) else "unknown"
        rows.append(
            f'<tr><td style="text-align:left">{html.escape(name)}</td>'
            f'<td style="text-align:left">{bar}</div> {html.escape(said)}</td></tr>'
        )
    head = f'<tr><th></th><th style="text-align:left">{html.escape(heading)}</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
