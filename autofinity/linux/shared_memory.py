"""Numbers for bytes of memory that are the same in all processes that share the memory.

kMAF'14 (section 3.1.1) and kMAF'16 (section 4.2.1) identify memory by its physical address, so that
sharing between processes is seen. A kernel shows physical addresses to root only. Memory that is
mapped as shared, with or without a name, has an inode, which /proc/PID/maps of each process shows.
So shared memory is identified by inode and offset, all other memory by process and address.

Private mappings, such as those of a library, belong to each process alone, although their pages may
be common. The maps of a process that has ended, or that is not ours, cannot be read: none of its
memory counts as shared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from autofinity.linux.kernel_file import lines_of
from autofinity.linux.touches import ADDRESS_BITS

_FIRST_NUMBER = 1 << 22
"""A number above every possible process id."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A stretch of a process's addresses, from a line of /proc/PID/maps."""

    start: int
    end: int
    shared: tuple[str, str] | None
    """Device and inode of a mapping that is shared; None for others."""
    offset: int

    @staticmethod
    def parse(line: str) -> Mapped:
        """Parse a line. Raises `ValueError`."""
        addresses, modes, offset, device, inode, *_ = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        shared = (device, inode) if modes[3:4] == "s" and inode != "0" else None
        return Mapped(start, end, shared, int(offset, 16))


class SharedMemory:
    """Mappings of the processes whose addresses were looked up."""

    def __init__(self, processes: int = 1, procfs: str = "/proc") -> None:
        """Maps are first read after so many processes were looked up: one process alone shares
        nothing.
        """
        self._processes = processes
        self._procfs = procfs
        self._pids: set[int] = set()
        self._maps: dict[int, list[Mapped]] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._read: set[int] = set()

    def look_again(self) -> None:
        """Allow one more read of each process's maps, for an address that no known mapping
        holds.
        """
        self._read.clear()

    def place(self, pid: int, address: int) -> int:
        """A number below 2^71 that is the same for the same byte in all processes."""
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
    for line in lines_of(path):
        with suppress(ValueError):
            yield Mapped.parse(line)
