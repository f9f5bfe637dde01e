"""Records in perf's rings of a running program: accesses of threads to addresses, and new
threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from autofinity.model.topology import OsIndex

ADDRESS_BITS: Final = 48
"""Bits of a program's addresses; higher addresses are the kernel's."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One fault or access."""

    at_ns: int
    """Time of perf's clock, which orders the touches of all threads."""
    pid: int
    tid: int
    address: int
    cpu: OsIndex
    """CPU where the thread was."""


@dataclass(frozen=True, slots=True)
class Born:
    """Beginning of a thread or process."""

    at_ns: int
    pid: int
    tid: int


type Record = Touch | Born
