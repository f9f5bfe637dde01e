"""The kernel's state of a process."""

from __future__ import annotations

import os
from pathlib import Path


def state_of(pid: int) -> str:
    """The kernel's letter for a process or thread: R runs, S sleeps, T is stopped, Z has ended …;
    empty: it is gone.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # before it was opened, or since
        return ""


def runs(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    return state_of(pid) not in ("", "Z")


def below(parent: int, name: str) -> list[int]:
    """Descendants of a process that run the program `name`."""
    parents: dict[int, int] = {}
    named = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
            if Path(os.fsdecode(words[0])).name == name:
                named.add(int(entry.name))
    found = []
    for pid in sorted(named):
        at = pid
        while at in parents and at != parent:
            at = parents[at]
        if at == parent:
            found.append(pid)
    return found
