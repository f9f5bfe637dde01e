"""`autofinity map`: which thread should sit where, from who shares with whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autofinity.cli.backends import available_cpus, cpu_list, machine_topology
from autofinity.cli.options.figure import picture_option
from autofinity.cli.options.hint import hint_of, print_picture
from autofinity.cli.options.json import json_option
from autofinity.cli.options.placing import available_option, topology_option
from autofinity.cli.page import print_table
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.mapping.compare import Mapped
    from autofinity.model.sharing import SharingMatrix
    from autofinity.model.topology import OsIndex, Topology

ALGORITHMS = (
    "refined", "eagermap", "edmonds", "bisection", "scotch", "treematch", "exact", "compact",
    "scatter", "random",
)  # fmt: skip


@click.command("map")
@click.option(
    "--matrix",
    "matrix_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="CSV: how much each thread shares with each, a row a thread.",
)
@topology_option
@click.option(
    "--algorithm",
    "-a",
    type=click.Choice(ALGORITHMS),
    default="refined",
    show_default=True,
    help="Who says where threads sit.",
)
@click.option("--threads", "-t", type=click.IntRange(min=1), help="Only the first threads.")
@click.option(
    "--hint",
    default="slp",
    show_default=True,
    help="Which cores are used: the best match of this hint. With more threads than CPUs, all.",
)
@available_option
@click.option("--directed", is_flag=True, help="Cells i,j and j,i are added: one way each.")
@picture_option
@json_option
def command(
    matrix_file: Path,
    machine: str,
    algorithm: str,
    threads: int | None,
    hint: str,
    available: str | None,
    directed: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Map threads to CPUs so that those that share most sit closest, and say what that is worth.

    The cost is the sum of sharing times distance over all pairs of threads: 0 on one CPU, 1 in a
    core, 2 in an L2, 4 in a last-level cache, 10 in a node, and the SLIT between nodes.

    Which cores are used is chosen first, by --hint and --available; all algorithms only say who
    sits where on them.
    """
    from autofinity.mapping.compare import compared, mapped
    from autofinity.mapping.matrix_file import read_matrix

    topology = machine_topology(machine)
    sharing = _first(read_matrix(matrix_file, directed=directed), threads, matrix_file)
    cpus = _usable(topology, sharing.threads, hint, available)
    chosen = mapped(algorithm, sharing, topology, cpus)
    others = [chosen if m.name == algorithm else m for m in compared(sharing, topology, cpus)]
    if output is not None:
        from autofinity.report.mapping_image import save_mapping

        save_mapping(sharing, topology, chosen, output)
    if as_json:
        click.echo(json.dumps(_document(machine, hint, cpus, sharing, chosen, others)))
        return
    _print(topology, machine, hint, cpus, sharing, chosen, others)
    if output is not None:
        click.echo(f"{chosen.name}: kept in {output}", err=True)


def _first(sharing: SharingMatrix, threads: int | None, path: Path) -> SharingMatrix:
    from autofinity.model.sharing import SharingMatrix

    if threads is None:
        return sharing
    if threads > sharing.threads:
        raise UsageError(f"--threads {threads}: {path} has {sharing.threads}; expected fewer")
    return SharingMatrix(tuple(row[:threads] for row in sharing.cells[:threads]))


def _usable(
    topology: Topology, threads: int, hint: str, available: str | None
) -> frozenset[OsIndex]:
    wish = hint_of(hint)
    cpus = available_cpus(topology, available)
    usable = topology.allowed if cpus is None else cpus
    if threads > len(usable):
        return usable
    from autofinity.affinity.hints import get_affinity

    return frozenset(get_affinity(topology, threads, wish, usable).cpus)


def _document(
    machine: str,
    hint: str,
    used: frozenset[OsIndex],
    sharing: SharingMatrix,
    chosen: Mapped,
    others: list[Mapped],
) -> dict[str, Any]:
    from autofinity.model.sharing_metrics import (
        heterogeneity,
        heterogeneity_off_diagonal,
        sharing_amount,
    )

    return {
        "machine": machine,
        "threads": sharing.threads,
        "hint": hint,
        "used": sorted(used),
        "heterogeneity": heterogeneity(sharing),
        "heterogeneity_off_diagonal": heterogeneity_off_diagonal(sharing),
        "sharing_amount": sharing_amount(sharing),
        "algorithm": chosen.name,
        "cpus": list(chosen.cpus),
        "cost": chosen.cost,
        "algorithms": [
            {"algorithm": m.name, "reason": m.reason}
            if m.reason
            else {"algorithm": m.name, "cpus": list(m.cpus), "cost": m.cost, "time_s": m.time_s}
            for m in others
        ],
    }


def _print(
    topology: Topology,
    machine: str,
    hint: str,
    used: frozenset[OsIndex],
    sharing: SharingMatrix,
    chosen: Mapped,
    others: list[Mapped],
) -> None:
    from rich.table import Table

    from autofinity.mapping.mappers import MAPPERS

    said = f"{chosen.name}: {sharing.threads} threads at a cost of {chosen.cost:g}"
    print_picture(topology, machine, None, chosen.cpus, said)
    click.echo(f"CPUs used, by all algorithms (--hint {hint}): {cpu_list(used)}")
    click.echo("CPUs in thread order: " + ",".join(map(str, chosen.cpus)))
    table = Table()
    for heading in ("algorithm", "cost", f"of {chosen.name}", "ms", ""):
        table.add_column(heading, justify="right" if heading in {"cost", "ms"} else "left")
    for m in others:
        if m.reason:
            table.add_row(m.name, "-", "-", "-", m.reason)
            continue
        ratio = f"{m.cost / chosen.cost:.3f}" if chosen.cost else "-"
        time_ms = f"{m.time_s * 1e3:.2f}"
        table.add_row(m.name, f"{m.cost:g}", ratio, time_ms, MAPPERS[m.name].meaning)
    print_table(table)
