"""A picture of a machine for the terminal: a box for each socket, a row for each LLC domain of each
node.

Without a placement a cell shows the OS index of its CPU (those of one core joined by `/`). With a
placement, a placed CPU shows the number of its thread (or of its threads: `0+4`), a free CPU `-`. A
CPU that may not be used is `·` in both. The picture fits the width given, down to 40 columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autofinity.linux.gaps import gaps
from autofinity.model.topology import PU, OsIndex, Topology
from autofinity.report.machine_parts import Package, nodes_without_cpus, packages_of

if TYPE_CHECKING:
    from rich.text import Text

NARROWEST = 40

_FREE = "-"
_UNUSABLE = "·"


@dataclass(frozen=True, slots=True)
class _Cell:
    """One core: text and style of each of its PUs."""

    parts: tuple[tuple[str, str], ...]

    @property
    def width(self) -> int:
        return sum(len(text) for text, _ in self.parts) + len(self.parts) - 1


@dataclass(frozen=True, slots=True)
class _Row:
    """Cores of one LLC domain on one node."""

    label: str
    cells: tuple[_Cell, ...]


def draw(
    topology: Topology,
    width: int,
    cpus: Sequence[OsIndex] | None = None,
    available: frozenset[OsIndex] | None = None,
) -> Text:
    """The picture, at most `width` columns wide (not below `NARROWEST`).

    `cpus` are those of a placement, one for each thread. CPUs outside `available` are dimmed
    (default: those that the topology does not allow).
    """
    from rich.text import Text

    width = max(width, NARROWEST)
    usable = topology.allowed if available is None else available
    threads_of = None if cpus is None else _threads_of(cpus)
    packages = packages_of(topology)
    sockets = [_rows(package, threads_of, usable) for package in packages]
    cell_width = max(cell.width for rows in sockets for row in rows for cell in row.cells)
    label_width = max(len(row.label) for rows in sockets for row in rows)
    most_cells = max(len(row.cells) for rows in sockets for row in rows)
    # Two columns of border and two of padding around label, a gap of two, and the cells.
    natural = 4 + label_width + 2 + most_cells * (cell_width + 1) - 1
    per_line = max(1, (width + 1) // (natural + 1))
    box = natural if natural <= width else width

    picture = Text(no_wrap=True)
    for first in range(0, len(sockets), per_line):
        boxes = [
            _box(packages[first + i].label, rows, box, label_width, cell_width)
            for i, rows in enumerate(sockets[first : first + per_line])
        ]
        height = max(map(len, boxes))
        for line in range(height):
            for i, lines in enumerate(boxes):
                picture.append(" " if i else "")
                picture.append_text(lines[line] if line < len(lines) else Text(" " * box))
            picture.append("\n")
    for extra in nodes_without_cpus(topology):
        picture.append(extra + "\n", style="dim")
    return picture


def key(
    topology: Topology,
    cpus: Sequence[OsIndex] | None = None,
    available: frozenset[OsIndex] | None = None,
) -> str:
    """A line on the signs that `draw` uses for the same arguments."""
    usable = topology.allowed if available is None else available
    all_cpus = {pu.os_index for pu in topology.pus}
    signs = ["cells: CPUs" if cpus is None else "cells: threads"]
    if cpus is not None and usable - set(cpus):
        signs.append(f"{_FREE}: a free CPU")
    if not all_cpus <= usable:
        signs.append(f"{_UNUSABLE}: a CPU that may not be used")
    if len(topology.pus) > topology.n_cores:
        signs.append("a/b: CPUs of one core")
    if cpus is not None and len(set(cpus)) < len(cpus):
        signs.append("a+b: threads of one CPU")
    return "; ".join(signs)


def summary(topology: Topology) -> list[str]:
    """A few lines on the machine as a whole."""
    counts = [
        _count(topology.n_packages, "socket"),
        _count(topology.n_nodes - len(topology.unknown_nodes), "NUMA node"),
        _count(topology.n_llcs, "LLC domain"),
        _count(topology.n_cores, "core"),
        _count(len(topology.pus), "CPU"),
    ]
    lines = [", ".join(counts)]
    if len(topology.allowed) < len(topology.pus):
        lines[0] += f" ({len(topology.allowed)} allowed)"
    if topology.model:
        lines.insert(0, topology.model)
    if topology.caches:
        lines.append(
            " · ".join(
                f"L{cache.level} {_size(cache.size_bytes)}"
                + (f" for {cache.shared_by_cores} cores" if cache.shared_by_cores > 1 else "")
                for cache in topology.caches
            )
        )
        if topology.llc_parts > 1:
            lines[-1] += f", a part for each of its {topology.llc_parts} nodes"
    if not topology.llcs_are_caches and topology.llc_parts == 1:
        what = "no cache of several cores is known" if topology.caches else "no cache known"
        lines.append(f"{what}: the cores of a node are one LLC domain")
    known = [n for n in range(topology.n_nodes) if n not in topology.unknown_nodes]
    if len(known) > 1:
        far = {topology.distances[a][b] for a in known for b in known if a != b}
        lines.append("distances between nodes: " + ", ".join(map(str, sorted(far))))
    lines.extend(gaps(topology))
    return lines


def _threads_of(cpus: Sequence[OsIndex]) -> dict[OsIndex, str]:
    found: dict[OsIndex, str] = {}
    for thread, cpu in enumerate(cpus):
        found[cpu] = f"{found[cpu]}+{thread}" if cpu in found else str(thread)
    return found


def _rows(
    package: Package, threads_of: dict[OsIndex, str] | None, usable: frozenset[OsIndex]
) -> list[_Row]:
    return [
        _Row(
            f"{node.label} {domain.label}",
            tuple(
                _Cell(tuple(_shown(pu, threads_of, usable) for pu in core)) for core in domain.cores
            ),
        )
        for node in package.nodes
        for domain in node.domains
    ]


def _shown(
    pu: PU, threads_of: dict[OsIndex, str] | None, usable: frozenset[OsIndex]
) -> tuple[str, str]:
    if pu.os_index not in usable:
        return _UNUSABLE, "dim"
    if threads_of is None:
        return str(pu.os_index), ""
    if pu.os_index in threads_of:
        return threads_of[pu.os_index], "bold green"
    return _FREE, "dim"


def _box(
    title: str, rows: Sequence[_Row], width: int, label_width: int, cell_width: int
) -> list[Text]:
    from rich.text import Text

    inner = width - 4
    lines = [Text(f"┌─ {title} " + "─" * (width - len(title) - 5) + "┐")]
    in_line = (inner - label_width - 2 + 1) // (cell_width + 1)
    beside = in_line >= 1
    if not beside:  # the label stands above its cells
        in_line = max(1, (inner + 1) // (cell_width + 1))
    for row in rows:
        if not beside:
            lines.append(_framed(Text(row.label[:inner], style="cyan"), inner))
        for first in range(0, len(row.cells), in_line):
            line = Text()
            if beside:
                label = row.label if first == 0 else ""
                line.append(label.ljust(label_width + 2), style="cyan")
            for i, cell in enumerate(row.cells[first : first + in_line]):
                line.append(" " if i else "")
                line.append(" " * (cell_width - cell.width))
                for rank, (text, style) in enumerate(cell.parts):
                    line.append("/" if rank else "", style="dim")
                    line.append(text, style=style)
            lines.append(_framed(line, inner))
    lines.append(Text("└" + "─" * (width - 2) + "┘"))
    return lines


def _framed(line: Text, inner: int) -> Text:
    from rich.text import Text

    framed = Text("│ ")
    line.truncate(inner, pad=True)
    framed.append_text(line)
    framed.append(" │")
    return framed


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _size(size_bytes: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= unit:
            amount = size_bytes / unit
            return f"{amount:.0f} {name}" if amount == round(amount) else f"{amount:.1f} {name}"
    return f"{size_bytes} B"
