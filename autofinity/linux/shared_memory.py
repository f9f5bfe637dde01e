"""Memory by what it is, whichever process sees it where.

kMAF'14 (section 3.1.1) and kMAF'16 (section 4.2.1) know memory by its physical address, so that
processes which share some are seen to. A kernel shows physical addresses to root only; what is
mapped as shared, with or without a name, has an inode, and each process's /proc/PID/maps says
which. So memory that is shared goes by inode and offset, all else by process and address.

What is mapped privately, such as a library, is each process's own, though its pages may be common.
A process that has gone, or is none of ours, does not tell, and then nothing of it is shared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from autofinity.linux.touches import ADDRESS_BITS

_FIRST_NUMBER = 1 << 22
"""Above every process id there can be."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A stretch of a process's addresses, as a line of /proc/PID/maps has it."""

    start: int
    end: int
    shared: tuple[str, str] | None
    """Device and inode, of one that is mapped as shared."""
    offset: int

    @staticmethod
    def parse(line: str) -> Mapped:
        """Raises `ValueError`."""
        addresses, modes, offset, device, inode, *_ = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        shared = (device, inode) if modes[3:4] == "s" and inode != "0" else None
        return Mapped(start, end, shared, int(offset, 16))


class SharedMemory:
    """What is known of the processes that were asked about."""

    def __init__(self, processes: int = 1, procfs: str = "/proc") -> None:
        """Nothing is read before so many processes were asked about: one alone shares nothing."""
        self._processes = processes
        self._procfs = procfs
        self._pids: set[int] = set()
        self._maps: dict[int, list[Mapped]] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._read: set[int] = set()

    def look_again(self) -> None:
        """Where an address is in nothing that is known, the process's maps are read once more: once
        from one call of this to the next.
        """
        self._read.clear()

    def place(self, pid: int, address: int) -> int:
        """A number that is the same for the same byte, below 2^71."""
        self._pids.add(pid)
        if len(self._pids) < self._processes:
            return (pid << ADDRESS_BITS) + address
        found = self._found(pid, address)
        if found is None and pid not in self._read:
            self._read.add(pid)
            self._maps[pid] = sorted(_mapped(f"{self._procfs}/{pid}/maps"), key=_start)
            found = self._found(pid, address)
        if found is None or found.shared is None:
            return (pid << ADDRESS_BITS) + address
        number = self._numbers.setdefault(found.shared, _FIRST_NUMBER + len(self._numbers))
        return (number << ADDRESS_BITS) + address - found.start + found.offset

    def _found(self, pid: int, address: int) -> Mapped | None:
        known = self._maps.get(pid, [])
        at = bisect_right(known, address, key=_start) - 1
        return known[at] if at >= 0 and address < known[at].end else None


def _start(mapped: Mapped) -> int:
    return mapped.start


def _mapped(path: str) -> Iterator[Mapped]:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        for line in file:
            with suppress(ValueError):
                yield Mapped.parse(line)
