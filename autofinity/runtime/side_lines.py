"""Text files that the launcher reads: a line that names the format, then one entry on each line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from autofinity.private_file import LARGEST_BYTES, read_private


def beginning(head: str, lines: Iterable[str]) -> str:
    """Content of a file with as many of the lines as the launcher reads at once, from the first
    on.
    """
    kept, size = [head], len(head) + 1
    for line in lines:
        size += len(line) + 1  # both are ASCII
        if size > LARGEST_BYTES:
            break
        kept.append(line)
    return "\n".join(kept) + "\n"


def entries(path: Path, head: str) -> list[str]:
    """The lines after the head, without empty lines; none of a file that is missing, foreign or of
    another format.
    """
    try:
        first, *lines = read_private(path).decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return []
    return [line for line in lines if line] if first == head else []
