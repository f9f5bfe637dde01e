"""Settings and results of the benchmark's parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"


@dataclass(frozen=True, slots=True)
class Settings:
    """How thoroughly to measure."""

    quick: bool


@dataclass(frozen=True, slots=True)
class Part:
    """Figures of one part."""

    values: dict[str, float | None]
    """Values by key of bench.json; None: could not be measured here, for the reason in one of the
    lines."""
    lines: list[str]
    """Lines for people."""
    peak_mib: float | None = None
    """Most memory of the part, as the kernel counted; None where it is not of interest."""
