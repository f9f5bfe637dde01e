"""Location of the memory of running programs: numa_maps, and for single pages move_pages(2).

Only pages that a program has written to and that belong to no file are counted: first touch put
them there, or a policy of the program's, by which they stay. Libraries belong to all programs.
Everything may vanish between two looks, and a kernel without NUMA has no numa_maps: parts that
cannot be read are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from autofinity.linux.kernel_file import lines_of
from autofinity.linux.pages import nodes_of
from autofinity.model.errors import CapabilityError
from autofinity.model.memory import SMALL_PAGE_BYTES, MemoryByNode
from autofinity.model.sharing import page_number
from autofinity.model.topology import OsIndex

_BYTES_AT_A_TIME = 4 << 20
_SPARSE = 64
"""Addresses looked at for each page found from which on an area is taken for empty: to look at so
many takes longer than to move the page."""
_LEAST_LOOKED_AT = 1 << 14  # addresses beside these
_FIRST_TOUCH = ("default", "local")


@dataclass(frozen=True, slots=True)
class Area:
    """A range of a process's addresses, as in a line of numa_maps."""

    start: int
    page_bytes: int
    pages: Mapping[OsIndex, int]
    """Number of present pages, by the kernel's number of their node."""
    is_fixed: bool = False
    """Whether the program has chosen the nodes, by a policy for the area or for all its memory."""

    @staticmethod
    def parse(line: str) -> Area | None:
        """The area of a line; None for an area that belongs to a file, or has no page yet. Raises
        `ValueError`.
        """
        words = line.split()
        pages: dict[OsIndex, int] = {}
        page_bytes = SMALL_PAGE_BYTES
        names = {word.partition("=")[0] for word in words[2:]}
        # Huge pages of a program's own are in a file of the kernel's.
        if "file" in names and not names >= {"huge", "anon"}:
            return None
        for word in words[2:]:
            name, _, value = word.partition("=")
            if name == "kernelpagesize_kB":
                page_bytes = int(value) * 1024
            elif name[:1] == "N" and name[1:].isdecimal():
                pages[OsIndex(int(name[1:]))] = int(value)
        if not pages:
            return None
        return Area(int(words[0], 16), page_bytes, pages, words[1] not in _FIRST_TOUCH)


def memory_of(
    pids: Iterable[int], node_os_indices: Sequence[OsIndex], procfs: str = "/proc"
) -> MemoryByNode | None:
    """Memory of these processes together, by logical node; None where nothing can be read."""
    logical = {number: node for node, number in enumerate(node_os_indices)}
    bytes_on = [0] * len(node_os_indices)
    fixed_on = [0] * len(node_os_indices)
    seen = False
    for pid in pids:
        for area in _areas(pid, procfs):
            seen = True
            for number, pages in area.pages.items():
                if number in logical:
                    bytes_on[logical[number]] += pages * area.page_bytes
                    fixed_on[logical[number]] += pages * area.page_bytes * area.is_fixed
    return MemoryByNode(tuple(bytes_on), tuple(fixed_on) if any(fixed_on) else ()) if seen else None


def pages_on(
    pids: Iterable[int], node: OsIndex, one_in: int = 1, procfs: str = "/proc"
) -> Iterator[Sequence[int]]:
    """Numbers of the pages of these processes on the node that the kernel calls `node`, without
    those that the program has put there by a policy.

    Each look at a part of their addresses, one of so many, gives a batch: up to 4 MiB, or a larger
    page, or no page. None follow where the kernel gives no answer, or where an area has so few
    pages that looking for more takes longer than to move them.
    """
    skipped = 0
    for pid in pids:
        wanted = [
            area for area in _areas(pid, procfs) if area.pages.get(node) and not area.is_fixed
        ]
        ends = _ends(pid, procfs) if wanted else {}
        for area in wanted:
            addresses = range(area.start, ends.get(area.start, area.start), area.page_bytes)
            at_a_time = max(1, _BYTES_AT_A_TIME // area.page_bytes)
            parts = range(0, len(addresses), at_a_time)
            left, looked_at = area.pages[node], 0
            for first in parts[skipped::one_in]:
                part = addresses[first : first + at_a_time]
                try:
                    nodes = nodes_of(pid, part)
                except CapabilityError:
                    break
                found = [
                    page_number(pid, address // SMALL_PAGE_BYTES)
                    for address, on in zip(part, nodes, strict=True)
                    if on == node
                ]
                left -= len(found)
                looked_at += len(part)
                yield found
                # The rest of a reserved range is empty, or nearly.
                if left <= 0 or looked_at > _SPARSE * (area.pages[node] - left) + _LEAST_LOOKED_AT:
                    break
            skipped = (skipped - len(parts)) % one_in


def _areas(pid: int, procfs: str) -> Iterator[Area]:
    for line in lines_of(f"{procfs}/{pid}/numa_maps"):
        with suppress(ValueError, IndexError):
            area = Area.parse(line)
            if area is not None:
                yield area


def _ends(pid: int, procfs: str) -> Mapping[int, int]:
    """Start of each area → its end."""
    found: dict[int, int] = {}
    for line in lines_of(f"{procfs}/{pid}/maps"):
        with suppress(ValueError):
            start, _, end = line.partition(" ")[0].partition("-")
            found[int(start, 16)] = int(end, 16)
    return found
