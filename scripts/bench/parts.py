"""What the parts of the benchmark share: how they are asked and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"


@dataclass(frozen=True, slots=True)
class Settings:
    """How thorough to be."""

    quick: bool


@dataclass(frozen=True, slots=True)
class Part:
    """Figures of one part."""

    values: dict[str, float | None]
    """By key of bench.json; None: could not be measured here, and a line says why."""
    lines: list[str]
    """What a person reads."""
    peak_mib: float | None = None
    """Most memory the part had, as the kernel counted; None where it is not of interest."""
