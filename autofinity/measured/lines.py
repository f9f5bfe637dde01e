"""Lines of foreign text, one at a time: never a second copy of a large file."""

from __future__ import annotations

from collections.abc import Iterator

LONGEST_LINE = 16_384
"""Characters; what is longer is no line of any tool, and reads as an empty line."""


def lines_of(text: str) -> Iterator[str]:
    """Without their ends."""
    start, length = 0, len(text)
    while start < length:
        end = text.find("\n", start)
        end = length if end < 0 else end
        yield text[start:end].removesuffix("\r") if end - start <= LONGEST_LINE else ""
        start = end + 1


def is_cut(text: str) -> bool:
    """Whether the last line has no end: tools end every line that they write."""
    return not text.endswith("\n")
