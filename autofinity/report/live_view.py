"""The live view of runs as rows of text: what `autofinity top` shows. Pure.

RunSeen ─► runs_view, threads_view ─► View (columns and rows) ─► fitted (lines of a width)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autofinity.foreign_text import one_line
from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.runs_now import RunSeen, ThreadSeen, cpus_of
from autofinity.runtime.undecided import reason_on_record

STYLES = {"title": "bold", "heading": "dim", "selected": "reverse", "keys": "dim"}
"""Styles of rich by the style of a line."""
_LEFT_BEHIND = 0.1
"""Share of memory on nodes without threads from which it is worth a word."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: on a narrow terminal those of a high `rank` are left out first."""

    heading: str
    rank: int
    least: int = 4
    """Fewest characters that are of use: no fewer than the heading has."""


@dataclass(frozen=True, slots=True)
class View:
    """A table, and lines above it."""

    lines: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the fitted view."""

    text: str
    style: str = ""
    """`title`, `heading`, `selected` or nothing."""


RUN_COLUMNS = (
    Column("run", 0, 20),
    Column("pid", 6, 20),
    Column("program", 1, 7),
    Column("threads", 4, 20),
    Column("CPU %", 5, 20),
    Column("CPUs", 3),
    Column("nodes", 7, 5),
    Column("memory", 8, 8),
    Column("phase", 9, 6),
    Column("hint", 2, 6),
    Column("would change", 10, 12),
)
THREAD_COLUMNS = (
    Column("thread", 0, 20),
    Column("name", 3, 6),
    Column("state", 4, 20),
    Column("CPU", 1, 20),
    Column("node", 2, 20),
    Column("CPU %", 5, 20),
)


def runs_view(runs: Sequence[RunSeen], topology: Topology, database: str) -> View:
    """All runs, one a row."""
    title = f"{len(runs)} run{'s' * (len(runs) != 1)} ({one_line(database)})"
    if not runs:
        title = f"no run is live ({one_line(database)}); `autofinity run -- PROGRAM` starts one"
    return View((title,), RUN_COLUMNS, tuple(_run_row(seen, topology) for seen in runs))


def threads_view(seen: RunSeen, topology: Topology, decision: str) -> View:
    """One run, its threads a row each."""
    run = seen.run
    lines = (
        f"run {run.id}: {one_line(run.path)}, pid {run.pid}, {_phase(seen)}",
        f"hint: {run.hint.shown if run.hint else 'none'}; {one_line(decision)}",
        f"memory: {memory_text(seen, topology)}",
        f"would change: {would_change(seen, topology)}",
    )
    return View(lines, THREAD_COLUMNS, tuple(_thread_row(each, topology) for each in seen.threads))


def _run_row(seen: RunSeen, topology: Topology) -> tuple[str, ...]:
    run = seen.run
    running = sum(each.task.runnable for each in seen.threads)
    shares = [each.share for each in seen.threads if each.share is not None]
    cpus = cpus_of(seen)
    return (
        str(run.id),
        str(run.pid),
        one_line(run.path.rpartition("/")[2] or run.path),
        f"{running}/{len(seen.threads)}" if seen.threads else "-",
        f"{100 * sum(shares):.0f}" if shares else "-",
        format_cpu_list(cpus) or "-",
        _numbers(nodes_of(cpus, topology)) or "-",
        memory_text(seen, topology),
        _phase(seen),
        run.hint.name if run.hint else "-",
        would_change(seen, topology),
    )


def _thread_row(seen: ThreadSeen, topology: Topology) -> tuple[str, ...]:
    task = seen.task
    node = _numbers(nodes_of({task.cpu}, topology))
    share = "-" if seen.share is None else f"{100 * seen.share:.0f}"
    state = "runs" if task.runnable else "sleeps"
    return (str(task.tid), one_line(task.name), state, str(task.cpu), node or "?", share)


def nodes_of(cpus: Collection[OsIndex], topology: Topology) -> frozenset[OsIndex]:
    """The kernel's numbers of the nodes of these CPUs; unknown nodes and CPUs are left out."""
    pus = topology.by_os_index
    nodes = {pus[cpu].node for cpu in cpus if cpu in pus} - topology.unknown_nodes
    return frozenset(topology.node_os_indices[node] for node in nodes)


def memory_by_node(seen: RunSeen, topology: Topology) -> Mapping[OsIndex, int] | None:
    """Bytes by the kernel's number of the node; None where the kernel does not show them."""
    if seen.memory is None:
        return None
    sizes = zip(topology.node_os_indices, seen.memory.bytes_on, strict=True)
    return {number: size_bytes for number, size_bytes in sizes if size_bytes}


def memory_text(seen: RunSeen, topology: Topology) -> str:
    """Memory on each node, the fullest first; in all where nodes are not shown."""
    found = memory_by_node(seen, topology)
    if not found:
        return f"{_size(seen.resident_bytes)} in all" if seen.resident_bytes else "-"
    fullest = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return " ".join(f"{number}:{_size(size_bytes)}" for number, size_bytes in fullest)


def would_change(seen: RunSeen, topology: Topology) -> str:
    """Changes that the monitor of a run would make now, or the reason why it makes none."""
    run = seen.run
    if not seen.alive:
        return "nothing: it has ended"
    if run.phase == "detached":
        return "nothing: it is watched no longer"
    if not seen.watched:
        return "nothing: its monitor is gone"
    why = one_line(reason_on_record(run, alive=True))
    if why:
        return f"nothing yet: {why}" if run.phase != "left alone" else f"nothing: {why}"
    if run.phase == "left alone":
        return "nothing: its threads are left alone"
    moving = _off_their_cpus(seen)
    if moving:
        return f"{moving} running thread{'s' * (moving != 1)} to CPUs {one_line(run.cpus)}"
    left = _left_behind(seen, topology)
    if left >= _LEFT_BEHIND:
        return f"nothing; {left:.0%} of its memory is on nodes without its threads"
    return "nothing"


def _off_their_cpus(seen: RunSeen) -> int:
    """Number of running threads on CPUs that the run was not given."""
    try:
        given = parse_cpu_list(seen.run.cpus)
    except UsageError:
        return 0
    running = [each.task for each in seen.threads if each.task.runnable and not each.task.helper]
    return sum(task.cpu not in given for task in running) if given else 0


def _left_behind(seen: RunSeen, topology: Topology) -> float:
    memory = memory_by_node(seen, topology)
    if not memory or not seen.threads:
        return 0.0
    here = nodes_of({each.task.cpu for each in seen.threads}, topology)
    return sum(size for node, size in memory.items() if node not in here) / sum(memory.values())


def _phase(seen: RunSeen) -> str:
    return one_line(seen.run.phase or "starting") if seen.alive else "ended"


def _numbers(numbers: Collection[OsIndex]) -> str:
    return format_cpu_list(frozenset(numbers))


def _size(size_bytes: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.3g} {name}"
    return f"{size_bytes} B"


def fitted(
    view: View, width: int, height: int | None = None, selected: int | None = None
) -> list[Line]:
    """The view in lines of at most `width` characters, of which `~` ends one that is cut; at most
    `height` lines, with the selected row among them and marked.
    """
    lines = [Line(_cut(text, width), "title") for text in view.lines]
    if not view.rows:
        return lines[:height]
    marked = selected is not None
    columns = _columns(view, width - 2 if marked else width)
    heading = [view.columns[at].heading for at, _ in columns]
    sizes = [size for _, size in columns]
    lines.append(Line("  " * marked + _joined(heading, sizes), "heading"))
    first, last = 0, len(view.rows)
    if height is not None:
        lines = lines[: max(0, height - 1)]
        room = max(1, height - len(lines))
        first = min(max(0, (selected or 0) - room // 2), max(0, last - room))
        last = min(last, first + room)
    for at in range(first, last):
        row = view.rows[at]
        mark = ("> " if at == selected else "  ") * marked
        text = mark + _joined([row[column] for column, _ in columns], sizes)
        lines.append(Line(text, "selected" if at == selected else ""))
    return lines[:height]


def _columns(view: View, width: int) -> list[tuple[int, int]]:
    """Index and width of each column that is shown, in order."""
    from rich.cells import cell_len

    natural = [
        max(cell_len(column.heading), *(cell_len(row[at]) for row in view.rows))
        for at, column in enumerate(view.columns)
    ]
    order = sorted(range(len(natural)), key=lambda at: view.columns[at].rank)
    sizes: dict[int, int] = {}
    left = width + 1
    for at in order:
        least = min(natural[at], view.columns[at].least)
        if sizes and left < least + 1:
            continue
        sizes[at] = min(least, max(1, left - 1))
        left -= sizes[at] + 1
    for at in order:
        if at in sizes and left > 0:
            more = min(natural[at] - sizes[at], left)
            sizes[at] += more
            left -= more
    return sorted(sizes.items())


def _joined(cells: Sequence[str], sizes: Sequence[int]) -> str:
    from rich.cells import cell_len

    cut = [_cut(cell, size) for cell, size in zip(cells, sizes, strict=True)]
    padded = [cell + " " * (size - cell_len(cell)) for cell, size in zip(cut, sizes, strict=True)]
    return " ".join(padded).rstrip()


def _cut(text: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "~" if width > 1 else "~"[:width]
