"""What kind of CPU this is, in the words of machine files (`cpu_models`, docs/machines.md)."""

from __future__ import annotations

from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
_FIRST_CPU_BYTES = 8192
"""More than the kernel says of one CPU; of hundreds it takes milliseconds to tell."""


def cpu_model(cpuinfo: Path = CPUINFO) -> str:
    """The first CPU's name as the kernel tells it, single-spaced; on Arm, where it has no name, the
    implementer and the part ("0x41 0xd4f"). Empty where it says neither.
    """
    found: dict[str, str] = {}
    try:
        with cpuinfo.open("rb") as file:
            text = file.read(_FIRST_CPU_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    for line in text.split("\n"):
        name, colon, value = line.partition(":")
        if not colon and found:
            break
        found.setdefault(name.strip(), " ".join(value.split()))
    if found.get("model name"):
        return found["model name"]
    return " ".join(filter(None, (found.get("CPU implementer"), found.get("CPU part"))))
