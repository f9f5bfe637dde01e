"""Where a person is in the live view: which run is selected, and whether its threads are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Key = Literal["quit", "up", "down", "open", "back", "redraw", "suspend", "resume"]


@dataclass(frozen=True, slots=True)
class Browsing:
    """A place in the view; runs are known by their numbers."""

    run: int | None = None
    """Selected run; None before the first one is seen."""
    opened: bool = False
    """Whether the threads of that run are shown."""
    row: int = 0
    """Selected row of its threads."""

    def among(self, runs: Sequence[int], threads: int = 0) -> Browsing:
        """The same place among these runs, newest first, and this many threads of the selected one.

        Where the selected run is gone from the list, the newest one is selected instead.
        """
        if self.run not in runs:
            return Browsing(runs[0]) if runs else Browsing()
        return replace(self, row=min(self.row, max(0, threads - 1)))

    def after(self, key: Key, runs: Sequence[int], threads: int = 0) -> Browsing:
        """The place after a key; keys without a meaning here change nothing."""
        here = self.among(runs, threads)
        if here.run is None:
            return here
        step = {"up": -1, "down": 1}.get(key, 0)
        if here.opened:
            if key == "back":
                return replace(here, opened=False, row=0)
            return replace(here, row=min(max(0, here.row + step), max(0, threads - 1)))
        if key == "open":
            return replace(here, opened=True)
        at = min(max(0, runs.index(here.run) + step), len(runs) - 1)
        return replace(here, run=runs[at])


_KEYS: dict[bytes, Key] = {
    b"q": "quit",
    b"Q": "quit",
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"k": "up",
    b"\x1b[B": "down",
    b"\x1bOB": "down",
    b"j": "down",
    b"\r": "open",
    b"\n": "open",
    b"\x1b[C": "open",
    b"\x1bOC": "open",
    b"\x1b": "back",
    b"\x7f": "back",
    b"\b": "back",
    b"\x1b[D": "back",
    b"\x1bOD": "back",
    b"\x0c": "redraw",
}


def keys_in(data: bytes) -> list[Key]:
    """Keys that a terminal sent; other bytes and sequences mean nothing."""
    found: list[Key] = []
    at = 0
    while at < len(data):
        end = at + 1
        if data[at : at + 1] == b"\x1b" and data[at + 1 : at + 2] in (b"[", b"O"):
            end = at + 2
            while end < len(data) and not 0x40 <= data[end] <= 0x7E:
                end += 1
            end += 1
        key = _KEYS.get(data[at:end])
        if key is not None:
            found.append(key)
        at = end
    return found
