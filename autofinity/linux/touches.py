"""What perf's rings tell of a running program: which thread was at which address, and who began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from autofinity.model.topology import OsIndex

ADDRESS_BITS: Final = 48
"""Of a program's addresses; what lies above is the kernel's."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One fault or access."""

    at_ns: int
    """Of perf's clock: orders those of all threads."""
    pid: int
    tid: int
    address: int
    cpu: OsIndex
    """Where the thread was."""


@dataclass(frozen=True, slots=True)
class Born:
    """A thread or process began."""

    at_ns: int
    pid: int
    tid: int


type Record = Touch | Born
