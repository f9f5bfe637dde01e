"""The kernel's state of a process."""

from __future__ import annotations

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
