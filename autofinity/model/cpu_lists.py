"""The kernel's list format for CPU and node sets: `0-5,12`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex

_LARGEST = 1 << 16  # as the launcher has it


def parse_cpu_list(text: str) -> frozenset[OsIndex]:
    """The numbers of a list; empty for an empty list. Raises `UsageError` on anything else."""
    found: set[OsIndex] = set()
    for part in text.strip().split(",") if text.strip() else []:
        first, dash, last = part.partition("-")
        low = int(first) if first.isascii() and first.isdigit() else -1
        high = int(last) if last.isascii() and last.isdigit() else (-1 if dash else low)
        if not 0 <= low <= high < _LARGEST:
            raise UsageError(f"not a list of CPUs: {text!r}; expected for example 0-5,12")
        found.update(cast("Iterable[OsIndex]", range(low, high + 1)))
    return frozenset(found)


def format_cpu_list(cpus: Iterable[OsIndex]) -> str:
    """Shortest list of the CPUs, ascending."""
    return format_numbers(cpus)


def format_numbers(numbers: Iterable[int]) -> str:
    """Shortest list of numbers of any kind, such as threads, ascending."""
    parts: list[str] = []
    ordered = sorted(set(numbers))
    at = 0
    while at < len(ordered):
        end = at
        while end + 1 < len(ordered) and ordered[end + 1] == ordered[end] + 1:
            end += 1
        parts.append(str(ordered[at]) if end == at else f"{ordered[at]}-{ordered[end]}")
        at = end + 1
    return ",".join(parts)
