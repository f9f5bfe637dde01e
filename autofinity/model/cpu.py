"""Which processor: what tells its family of events."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cpu:
    """What /proc/cpuinfo says of the first CPU; zeros and empty where it says nothing."""

    vendor: str
    """As x86 spells it; on Arm the implementer's number (`0x41`: Arm)."""
    family: int
    """On Arm the version of the architecture."""
    model: int
    """On Arm the part's number."""
