"""Lines of foreign text, one at a time: never a second copy of a large file."""

from __future__ import annotations

from collections.abc import Iterator

LONGEST_LINE = 16_384
"""Characters; what is longer is no line of any tool, and is left out."""


def lines_of(text: str) -> Iterator[str]:
    """Without their ends."""
    start, length = 0, len(text)
    while start < length:
        end = text.find("\n", start)
        end = length if end < 0 else end
        if end - start <= LONGEST_LINE:
            yield text[start:end].removesuffix("\r")
        start = end + 1
