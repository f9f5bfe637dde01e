"""A line on the terminal with the progress of a part; nothing where stderr is a file."""

from __future__ import annotations

import sys


def show(title: str, done: int, total: int) -> None:
    if not sys.stderr.isatty():
        return
    filled = done * 30 // total
    end = "\r" if done < total else "\r" + " " * 72 + "\r"
    bar = "#" * filled + "." * (30 - filled)
    print(f"{title:24.24} [{bar}] {done}/{total}", end=end, file=sys.stderr, flush=True)
