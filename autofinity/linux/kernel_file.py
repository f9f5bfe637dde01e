"""Files of /proc, sysfs and cgroupfs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CHUNK = 16_384
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def read_text(path: str | Path) -> str:
    """A small file as text; empty when it cannot be read.

    The file is read by system calls: a Python file object costs five times as much, and such reads
    are most of the monitor's work.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        data = os.read(fd, _CHUNK)
        # A read returns whole records, as many as find room, so that a short one may not be the
        # last; the empty one costs half a microsecond.
        while more := data and os.read(fd, _CHUNK):
            data += more
    except OSError:
        return ""
    finally:
        os.close(fd)
    return data.decode("utf-8", "replace")


def lines_of(path: str) -> Iterator[str]:
    """Lines of a file of any size; no more of them when the file cannot be read.

    A kernel returns such files in whole lines, some at a time, until the process ends.
    """
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        yield from file


def read_size_bytes(path: str | Path) -> int:
    """A size such as `32K` from a file, in bytes; 0 where there is none."""
    text = read_text(path).strip()
    digits = text.rstrip("".join(_UNITS))
    return int(digits) * _UNITS.get(text[len(digits) :], 1) if digits.isdigit() else 0


def read_number(path: str | Path, default: int = 0) -> int:
    """A whole number from a file, or the default where there is none."""
    try:
        return int(read_text(path))
    except ValueError:
        return default
