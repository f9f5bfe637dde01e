"""The kind of this CPU, as machine files name it (`cpu_models`, docs/machines.md)."""

from __future__ import annotations

from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
_FIRST_CPU_BYTES = 8192
"""More bytes than the kernel's text for one CPU; the text for hundreds of CPUs takes milliseconds
to produce."""


def cpu_model(cpuinfo: Path) -> str:
    """The first CPU's name as the kernel reports it, single-spaced.

    On Arm, where the CPU has no name, the implementer and the part ("0x41 0xd4f"). Empty where the
    kernel reports neither.
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
