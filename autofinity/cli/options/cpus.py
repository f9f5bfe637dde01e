"""Reading lists of CPUs that a command is given."""

from __future__ import annotations

from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology


def available_cpus(topology: Topology, text: str | None) -> frozenset[OsIndex] | None:
    """CPUs of a list such as `0-5,12` (the kernel's form); None for no list.

    Raises `UsageError` for a malformed list and for CPUs that the machine does not have or that
    may not be used.
    """
    if text is None:
        return None
    found: set[OsIndex] = set()
    for part in text.split(","):
        low, high = _ends(part, text, "0-5,12")
        if high < low:
            raise UsageError(f"not a CPU list: {text!r}; {low}-{high} is in descending order")
        # Only numbers of the machine are kept, so that 0-4000000000 costs nothing.
        within = {os_index for os_index in topology.by_os_index if low <= os_index <= high}
        if len(within) <= high - low:
            missing = next(i for i in range(low, high + 1) if i not in within)
            raise UsageError(
                f"CPU {missing} of {text!r} is not on {topology.name}, which has "
                f"{len(topology.pus)} CPUs numbered "
                f"{format_cpu_list(topology.by_os_index)}"
            )
        found |= within
    forbidden = found - topology.allowed
    if forbidden:
        raise UsageError(
            f"CPU {min(forbidden)} of {text!r} is not allowed on {topology.name}; "
            f"{len(topology.allowed)} of its {len(topology.pus)} CPUs are"
        )
    return frozenset(found)


def cpus_in_order(text: str) -> tuple[OsIndex, ...]:
    """The CPUs of a list such as `0,6,12-14` as they come; the same one may come twice.

    Raises `UsageError` for a malformed list.
    """
    found: list[OsIndex] = []
    for part in text.split(","):
        low, high = _ends(part, text, "0,6,12-14")
        if not low <= high < low + 100_000:
            raise UsageError(f"not a CPU list: {text!r}; {part} is not a range of CPUs")
        found.extend(OsIndex(cpu) for cpu in range(low, high + 1))
    return tuple(found)


def _ends(part: str, text: str, example: str) -> tuple[int, int]:
    """First and last number of a part of the list `text`. Raises `UsageError`."""
    first, dash, last = part.strip().partition("-")
    numbers = (first, last) if dash else (first,)
    if not all(number.isascii() and number.isdigit() for number in numbers):
        raise UsageError(f"not a CPU list: {text!r}; expected for example {example}")
    return int(numbers[0]), int(numbers[-1])
