"""PMUs of this machine from sysfs: their types, their events, and the place of each field.

Source: Documentation/ABI of the kernel, event_source/devices (type, events, format, cpumask).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex

DEVICES: Final = Path("/sys/bus/event_source/devices")
CORE_KINDS: Final = ("cpu_core", "cpu_atom", "cpu_lowpower")
"""PMUs of a machine of several core kinds; on any other machine the PMU is `cpu`."""


def pmu_type(pmu: Path) -> int | None:
    """`perf_event_attr.type` of the PMU in this folder; None where there is none."""
    try:
        return int((pmu / "type").read_text())
    except (OSError, ValueError):
        return None


def pmu_cpus(pmu: Path) -> frozenset[OsIndex] | None:
    """CPUs that the PMU in this folder belongs to; None where it names none."""
    try:
        return parse_cpu_list((pmu / "cpumask").read_text()) or None
    except (OSError, ValueError, UsageError):
        return None


def event_words(pmu: Path, event: str) -> dict[str, int]:
    """`event=0xcd,umask=0x1,ldlat=3` as numbers; empty when the PMU has no such event."""
    try:
        parts = (pmu / "events" / event).read_text().strip().split(",")
        pairs = (part.partition("=") for part in parts if part)
        return {name: int(value, 0) if value else 1 for name, _, value in pairs}
    except (OSError, ValueError):
        return {}


def placed(pmu: Path, words: Mapping[str, int]) -> dict[str, int] | None:
    """The words in the places that the PMU's formats give (`config1:0-15`), by `config`, `config1`
    and `config2`.

    None where the PMU does not know a word.
    """
    found = {"config": 0, "config1": 0, "config2": 0}
    for name, value in words.items():
        try:
            where, _, bits = (pmu / "format" / name).read_text().strip().partition(":")
            if where not in found:
                return None
            left = value
            for part in bits.split(","):
                low, _, high = part.partition("-")
                width = int(high or low) - int(low) + 1
                found[where] |= (left & ((1 << width) - 1)) << int(low)
                left >>= width
        except (OSError, ValueError):
            return None
    return found
