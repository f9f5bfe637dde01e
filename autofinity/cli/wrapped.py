"""Lines on a terminal: broken between words, and going on further in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

_WORDS = re.compile(r"( *)([^ ]+)")


def room(stream: TextIO) -> int | None:
    """Columns that lines have. None: no end; a pipe has no width to keep to, unless COLUMNS gives
    it one.
    """
    with suppress(ValueError):
        return int(os.environ.get("COLUMNS", "")) or None
    with suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or None
    return None


def wrapped(line: str, width: int, hang: int) -> Iterator[str]:
    """The line in pieces of at most `width` columns, as far as words allow: none is broken. All
    pieces but the first begin `hang` columns further in.
    """
    from rich.cells import cell_len

    inside = " " * (len(line) - len(line.lstrip(" ")) + hang)
    piece = ""
    for gap, word in _WORDS.findall(line):
        if piece.strip() and cell_len(piece + gap + word) > width:
            yield piece
            piece = inside + word
        else:
            piece += gap + word
    yield piece
