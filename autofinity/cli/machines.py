"""`autofinity machines`: the machines that are known by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from autofinity.cli.given_options import refuse_options
from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.page import print_table
from autofinity.cli.printer import say, say_json
from autofinity.report import markdown

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from autofinity.sim.spec import ByDistance, MachineSpec

COLUMNS = {
    "name": "name",
    "packages": "sockets",
    "nodes": "nodes",
    "llcs": "LLCs",
    "cores": "cores",
    "ghz": "GHz",
    "l1": "L1",
    "l2": "L2",
    "llc": "LLC",
    "dram": "memory, ns",
    "transfer": "core to core, ns",
    "memory": "GB/s a node",
    "sourced": "sourced",
}
"""Columns of the Markdown table: how `_cells` calls them, and their headings."""


@click.command(cls=Command)
@click.option(
    "--sources",
    is_flag=True,
    help="Show how many values of each machine were read, derived, … or estimated.",
)
@click.option(
    "--markdown", is_flag=True, help="Print the table of docs/machines.md, with key numbers."
)
@json_option
def command(sources: bool, markdown: bool, as_json: bool) -> None:
    """List the machines that can be simulated by name.

    Each machine is a file in `data/machines` that gives the source of every value. `sourced` is the
    share of values that were read in a source, derived from a source, or measured. docs/machines.md
    describes how to write a machine file.
    """
    from autofinity.sim.preset import load_preset, preset_names

    if as_json:
        refuse_options(("markdown",), "--json prints no table")
    specs = [load_preset(name) for name in preset_names()]
    if as_json:
        machines = [{**document(spec), "values_by_mark": _marks(spec.name)} for spec in specs]
        say_json({"machines": machines})
    elif sources:
        _print_sources(preset_names(), markdown)
    elif markdown:
        _print_markdown(specs)
    else:
        _print_table(specs)


def document(spec: MachineSpec) -> dict[str, object]:
    """Document of `--json` for one machine."""
    return {
        "name": spec.name,
        "model": spec.model,
        "ghz": spec.ghz,
        "packages": spec.topology.n_packages,
        "nodes": spec.topology.n_nodes,
        "llcs": spec.topology.n_llcs,
        "cores": spec.topology.n_cores,
        "pus": len(spec.topology.pus),
        "llc_bytes": spec.llc.size_bytes,
        "dram_local_ns": spec.latency.dram[0],
        "memory_gbs_per_node": spec.bandwidth.memory_gbs[0],
        "pmu_counters": spec.pmu_counters,
    }


def _marks(name: str) -> Counter[str]:
    from autofinity.resources import shipped
    from autofinity.sim.sources import count_marks

    return count_marks(shipped("data", "machines", f"{name}.toml").read_text(encoding="utf-8"))


def _sourced(name: str) -> str:
    from autofinity.sim.sources import share_well_sourced

    return f"{share_well_sourced(_marks(name)):.0%}"


def _print_table(specs: list[MachineSpec]) -> None:
    headings = ("name", "model", "sockets", "nodes", "LLCs", "cores", "PUs", "GHz", "sourced")
    rows = []
    for spec in specs:
        topology = spec.topology
        numbers = (
            topology.n_packages,
            topology.n_nodes,
            topology.n_llcs,
            topology.n_cores,
            len(topology.pus),
        )
        name, ghz = spec.name, f"{spec.ghz:g}"
        rows.append((name, spec.model, *map(str, numbers), ghz, _sourced(name)))
    _print_rich(headings, rows)


def _print_sources(names: tuple[str, ...], markdown: bool) -> None:
    from autofinity.sim.sources import MARKS

    headings = ("name", "all", *MARKS.values(), "sourced")
    rows = []
    for name in names:
        counts = _marks(name)
        numbers = (counts.total(), *(counts[mark] for mark in MARKS))
        shown = f"`{name}`" if markdown else name
        rows.append((shown, *map(str, numbers), _sourced(name)))
    if markdown:
        _print_rows(headings, rows)
    else:
        _print_rich(headings, rows)


def _print_markdown(specs: list[MachineSpec]) -> None:
    rows = []
    for spec in specs:
        cells = {**document(spec), **_cells(spec)}
        rows.append([str(cells[column]) for column in COLUMNS])
    _print_rows(tuple(COLUMNS.values()), rows)


def _print_rows(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table in Markdown."""
    say(markdown.heading(*headings))
    for row in rows:
        say(markdown.row(*row))


def _print_rich(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*row)
    print_table(table)


def _cells(spec: MachineSpec) -> dict[str, str]:
    nodes = {each for row in spec.node_distance for each in row}
    llcs = {each for row in spec.llc_distance for each in row}
    kinds = spec.core_classes
    l2 = [_size(kind.l2.size_bytes) if kind.l2 else "none" for kind in kinds]
    memory = sorted(set(spec.bandwidth.memory_gbs))
    return {
        "name": f"`{spec.name}`",
        "ghz": " / ".join(f"{kind.ghz:g}" for kind in kinds),
        "l1": " / ".join(_size(kind.l1.size_bytes) for kind in kinds),
        "l2": " / ".join(l2),
        "llc": _size(spec.llc.size_bytes),
        "dram": _by_distance(spec.latency.dram, nodes),
        "transfer": _by_distance(spec.latency.load_modified, llcs),
        "memory": " to ".join(
            f"{gbs:g}" if gbs else "no limit" for gbs in (memory[0], memory[-1])[: len(memory)]
        ),
        "sourced": _sourced(spec.name),
    }


def _by_distance(ns: ByDistance, there: set[int]) -> str:
    """Values of the distance classes that the machine has."""
    return " / ".join(f"{value:.0f}" for i, value in enumerate(ns) if i in there)


def _size(size_bytes: int) -> str:
    kib = size_bytes / 1024
    return f"{kib:g} KiB" if kib < 1024 else f"{kib / 1024:.3g} MiB"
