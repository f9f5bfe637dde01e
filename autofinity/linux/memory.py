"""Where the memory of running programs is: numa_maps, and for single pages move_pages(2).

Counted is what a program has written to and no file is behind: first touch put it there. Libraries
are everybody's. Everything may vanish between two looks, and a kernel without NUMA has no
numa_maps: what cannot be read is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from autofinity.linux.pages import nodes_of
from autofinity.model.errors import CapabilityError
from autofinity.model.memory import MemoryByNode
from autofinity.model.sharing import page_number
from autofinity.model.topology import OsIndex

_SMALL_PAGE_BYTES = 4096  # what page numbers count in
_PAGES_AT_A_TIME = 1024


@dataclass(frozen=True, slots=True)
class Area:
    """A stretch of a process's addresses, as a line of numa_maps has it."""

    start: int
    page_bytes: int
    pages: Mapping[OsIndex, int]
    """Pages that are there, by the kernel's number of their node."""

    @staticmethod
    def parse(line: str) -> Area | None:
        """None for one that a file is behind, or that has no page yet. Raises `ValueError`."""
        words = line.split()
        pages: dict[OsIndex, int] = {}
        page_bytes = _SMALL_PAGE_BYTES
        for word in words[2:]:
            name, _, value = word.partition("=")
            if name == "file":
                return None
            if name == "kernelpagesize_kB":
                page_bytes = int(value) * 1024
            elif name[:1] == "N" and name[1:].isdecimal():
                pages[OsIndex(int(name[1:]))] = int(value)
        return Area(int(words[0], 16), page_bytes, pages) if pages else None


def memory_of(
    pids: Iterable[int], node_os_indices: Sequence[OsIndex], procfs: str = "/proc"
) -> MemoryByNode | None:
    """Of these processes together, by logical node; None where nothing of them can be read."""
    logical = {number: node for node, number in enumerate(node_os_indices)}
    bytes_on = [0] * len(node_os_indices)
    seen = False
    for pid in pids:
        for area in _areas(pid, procfs):
            seen = True
            for number, pages in area.pages.items():
                if number in logical:
                    bytes_on[logical[number]] += pages * area.page_bytes
    return MemoryByNode(tuple(bytes_on)) if seen else None


def pages_on(pids: Iterable[int], node: OsIndex, procfs: str = "/proc") -> Iterator[Sequence[int]]:
    """Numbers of the pages of these processes on the node that the kernel calls `node`, those of up
    to a thousand addresses at a time; none where the kernel does not tell.
    """
    for pid in pids:
        wanted = [area for area in _areas(pid, procfs) if area.pages.get(node)]
        ends = _ends(pid, procfs) if wanted else {}
        for area in wanted:
            addresses = range(area.start, ends.get(area.start, area.start), area.page_bytes)
            left = area.pages[node]
            for first in range(0, len(addresses), _PAGES_AT_A_TIME):
                if left <= 0:  # the rest of what was reserved is empty
                    break
                part = addresses[first : first + _PAGES_AT_A_TIME]
                try:
                    nodes = nodes_of(pid, part)
                except CapabilityError:
                    break
                found = [
                    page_number(pid, address // _SMALL_PAGE_BYTES)
                    for address, on in zip(part, nodes, strict=True)
                    if on == node
                ]
                left -= len(found)
                yield found


def _areas(pid: int, procfs: str) -> Iterator[Area]:
    for line in _lines(f"{procfs}/{pid}/numa_maps"):
        with suppress(ValueError, IndexError):
            area = Area.parse(line)
            if area is not None:
                yield area


def _ends(pid: int, procfs: str) -> Mapping[int, int]:
    """Start of each area → where it ends."""
    found: dict[int, int] = {}
    for line in _lines(f"{procfs}/{pid}/maps"):
        with suppress(ValueError):
            start, _, end = line.partition(" ")[0].partition("-")
            found[int(start, 16)] = int(end, 16)
    return found


def _lines(path: str) -> Iterator[str]:
    # The kernel hands these files out by whole lines, some at a time, until the process is gone.
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        yield from file
