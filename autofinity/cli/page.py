"""Where commands print tables: on a terminal as wide as that is, in a pipe as wide as they are.

Nothing in a table is lost on a narrow terminal. The first of these forms that fits is printed:

    with its lines        cells of several words take several lines
    without lines         the same, with two spaces between columns
    without lines, folded columns that fold break words, too, where that reads best
    as records            a line for each cell, `heading value`, and an empty line between rows

A column of sentences that other commands print as well is left out where it would be narrow, and a
line says which command that is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Mapping
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autofinity.cli.printer import page
from autofinity.foreign_text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

_FOLDED = 8
"""Columns of the terminal that a column that folds gets at least."""
_SENTENCES = 40
"""Characters that a column of sentences gets at least, or it is left out."""
_GAP = 2
_BREAKS = ("}", ",/-_")
"""A word is broken after one of the first, where it has one, else of the second, else anywhere."""


def print_table(
    table: Table, console: Console | None = None, elsewhere: Mapping[str, str] | None = None
) -> None:
    """Print a table, by default on a page of its own.

    `elsewhere` says of columns of sentences, by heading, what else prints them.
    """
    console = console or page()
    shown = _fitted(table, console.width, elsewhere or {})
    left_out: Mapping[str, str] = {}
    if shown is None and elsewhere:
        left_out = elsewhere
        table = _without(table, elsewhere)
        shown = _fitted(table, console.width, {})
    if shown is None:
        _print_records(table, console)
    else:
        _print_fitted(shown, console)
    for heading, where in left_out.items():
        console.print(f"{heading}: {where}, or a wider terminal", soft_wrap=True)


def _print_fitted(table: Table, console: Console) -> None:
    """The table; a title that is wider than the table stands above it, and is not broken for it."""
    from rich.cells import cell_len
    from rich.text import Text

    title = _plain(table.title or "")
    if cell_len(title) > console.measure(table).maximum:
        table.title = None
        console.print(Text(title, "table.title"))
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as printed:
        console.print(table)
    for line in printed.get().removesuffix("\n").split("\n"):  # rows end where their text does
        console.print(Text(line.rstrip()), soft_wrap=True)


def _fitted(table: Table, room: int, roomy: Container[str]) -> Table | None:
    """The table in the first form that is no wider than `room`; None where every form is wider.

    Columns with a heading in `roomy` get as many characters as sentences need.
    """
    _, right, _, left = table.padding
    edges = 2 * table.show_edge + len(table.columns) - 1 if table.box else 0
    columns = [_Measured.of(column, roomy=column.header in roomy) for column in table.columns]
    lines, gaps = (left + right) * len(columns) + edges, _GAP * (len(columns) - 1)
    for lost, folds, plain in ((lines, False, False), (gaps, False, True), (gaps, True, True)):
        widths = _widths(columns, room - lost, folds=folds)
        if widths:
            return _of_widths(table, widths, plain=plain)
    return None


def _without(table: Table, headings: Container[str]) -> Table:
    """The same table without these columns."""
    kept = [at for at, column in enumerate(table.columns) if column.header not in headings]
    left = copy(table)
    left.columns = [table.columns[at] for at in kept]
    return left


@dataclass(frozen=True, slots=True)
class _Measured:
    """Characters that a column takes."""

    whole: int
    """With every cell in one line."""
    words: int
    """With no word broken."""
    least: int
    """With words broken, if it folds."""

    @staticmethod
    def of(column: Column, *, roomy: bool) -> _Measured:
        from rich.cells import cell_len

        lines = [
            line for cell in (column.header, *column.cells) for line in _plain(cell).split("\n")
        ]
        whole = max(map(cell_len, lines), default=0)
        words = max((cell_len(word) for line in lines for word in line.split()), default=0)
        words = whole if column.no_wrap else words
        least = min(words, _FOLDED) if column.overflow == "fold" else words
        enough = min(whole, _SENTENCES) if roomy else 0
        return _Measured(whole, max(words, enough), max(least, enough))


def _widths(columns: list[_Measured], room: int, *, folds: bool) -> list[int]:
    """A width for each column: wide ones give way to narrow ones. Empty where there is no room."""
    least = [each.least if folds else each.words for each in columns]
    if sum(least) > room:
        return []
    for level in range(max((each.whole for each in columns), default=0), -1, -1):
        widths = [
            max(few, min(each.whole, level)) for few, each in zip(least, columns, strict=True)
        ]
        if sum(widths) <= room:
            break
    return widths


def _of_widths(table: Table, widths: list[int], *, plain: bool) -> Table:
    """The same table with columns as wide as that, and no lines between them if `plain`."""
    from rich.table import Table

    shown = Table(
        title=table.title,
        title_justify=table.title_justify,
        show_header=table.show_header,
        box=None if plain else table.box,
        padding=(0, _GAP, 0, 0) if plain else table.padding,
        pad_edge=False if plain else table.pad_edge,
    )
    for column, width in zip(table.columns, widths, strict=True):
        # Cells are folded here, so that no ellipsis stands for anything.
        shown.add_column(
            _folded(column.header, width),
            justify=column.justify,
            style=column.style,
            width=width,
            overflow="fold",
        )
    for row, cells in zip(table.rows, _rows(table), strict=True):
        folded = [_folded(cell, width) for cell, width in zip(cells, widths, strict=True)]
        shown.add_row(*folded, style=row.style, end_section=row.end_section)
    return shown


def _folded(cell: object, width: int) -> str | Text:
    """The cell with its words broken where they are longer than `width`."""
    from rich.text import Text

    text = _plain(cell)
    broken = "\n".join(
        " ".join(_broken(word, width) for word in line.split(" ")) for line in text.split("\n")
    )
    return Text(broken, cell.style) if isinstance(cell, Text) else broken


def _broken(word: str, width: int) -> str:
    from rich.cells import cell_len

    lines = []
    while len(word) > 1 and cell_len(word) > width:
        head = word[: _fitting(word, width)]
        ends = (max(head.rfind(mark) for mark in marks) + 1 for marks in _BREAKS)
        at = next(filter(None, ends), len(head))
        lines.append(word[:at])
        word = word[at:]
    return "\n".join([*lines, word])


def _fitting(word: str, width: int) -> int:
    """How many characters of a word take at most `width` columns; at least one.

    Letters of some scripts take two, accents none.
    """
    from rich.cells import cell_len

    ends = range(1, len(word) + 1)
    return max(1, bisect_right(ends, width, key=lambda end: cell_len(word[:end])))


def _print_records(table: Table, console: Console) -> None:
    from rich.cells import cell_len, set_cell_size
    from rich.text import Text

    headings = [_plain(column.header) for column in table.columns]
    indent = max(map(cell_len, headings), default=0) + _GAP
    if table.title:
        console.print(Text(_plain(table.title), "italic"), soft_wrap=True)
    for cells in _rows(table):
        for heading, cell in zip(headings, cells, strict=True):
            said = cell if isinstance(cell, Text) else Text(_plain(cell))
            if said.plain:
                line = Text.assemble((set_cell_size(heading, indent), "dim"), said)
                console.print(line, soft_wrap=True)
        console.print()


def _rows(table: Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.cells for column in table.columns), strict=True))


def _plain(cell: object) -> str:
    return printable(str(getattr(cell, "plain", cell)))
