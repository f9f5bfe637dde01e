"""Identity of a processor, which decides its family of events."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cpu:
    """Facts from /proc/cpuinfo about the first CPU; zero or empty where it has none."""

    vendor: str
    """Vendor as x86 spells it; on Arm the implementer's number (`0x41`: Arm)."""
    family: int
    """Family; on Arm the version of the architecture."""
    model: int
    """Model; on Arm the part's number."""
