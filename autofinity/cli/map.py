"""`autofinity map`: which thread should sit where, from who shares with whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autofinity.cli.help import Command
from autofinity.cli.matrix_out import heterogeneities
from autofinity.cli.options.cpus import available_cpus
from autofinity.cli.options.figure import picture_option
from autofinity.cli.options.hint import HINT
from autofinity.cli.options.json import json_option
from autofinity.cli.options.placing import available_option, topology_option
from autofinity.cli.options.svg import keep_svg, svg_option
from autofinity.cli.page import print_table
from autofinity.cli.picture import print_picture
from autofinity.cli.printer import say, say_json
from autofinity.cli.progress import Terminal
from autofinity.mapping.cost import is_known
from autofinity.mapping.mappers import MAPPERS
from autofinity.model.affinity import Hint
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import UsageError
from autofinity.workflow.backends import machine_topology

if TYPE_CHECKING:
    from autofinity.mapping.compare import Mapped
    from autofinity.model.sharing import SharingMatrix
    from autofinity.model.topology import Topology
    from autofinity.workflow.map import MappedBeside


@click.command("map", cls=Command, more="--directed --last-first")
@click.option(
    "--matrix",
    "matrix_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="CSV file of a sharing matrix: amounts shared by each pair of threads, one row per "
    "thread.",
)
@topology_option
@click.option(
    "--algorithm",
    "-a",
    metavar="NAME",
    type=click.Choice(tuple(MAPPERS)),
    default="refined",
    show_default=True,
    help=f"Mapping algorithm: {', '.join(MAPPERS)}.",
)
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1),
    help="Map only this many threads, the first ones.",
)
@click.option(
    "--hint",
    type=HINT,
    default="packed",
    show_default=True,
    help="Use the cores of this hint's best match; all cores if there are more threads than CPUs.",
)
@available_option
@click.option(
    "--directed", is_flag=True, help="Add cells i,j and j,i, each of which holds one direction."
)
@click.option(
    "--last-first",
    is_flag=True,
    help="Read rows from the last thread to the first, as numalize writes them.  [default: where "
    "the file shows it]",
)
@picture_option
@svg_option
@json_option
def command(
    matrix_file: Path,
    machine: str,
    algorithm: str,
    threads: int | None,
    hint: Hint,
    available: str | None,
    directed: bool,
    last_first: bool,
    output: Path | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Map threads that share most to the closest CPUs, and compare mapping costs.

    The cost is the sum of sharing times distance over all pairs of threads: 0 on one CPU, 1 in a
    core, 2 in an L2, 4 in a last-level cache, 10 in a node, and the SLIT between nodes.

    The cores are chosen first, by --hint and --available. All algorithms place threads on the same
    cores.
    """
    from autofinity.mapping.matrix_file import read_matrix
    from autofinity.workflow.map import map_threads

    topology = machine_topology(machine)
    whole = read_matrix(matrix_file, directed=directed, last_first=last_first, reporter=Terminal())
    sharing = _first(whole, threads, matrix_file)
    usable = available_cpus(topology, available)
    done = map_threads(sharing, topology, algorithm, hint, usable)
    if as_json:
        say_json(_document(topology, machine, hint, sharing, done))
    else:
        _print(topology, machine, hint, sharing, done)
    if output is not None:
        from autofinity.report.mapping_image import save_mapping

        save_mapping(sharing, topology, done.chosen, output)
        say(f"{done.chosen.name}: kept in {output}", err=True)
    if svg is not None:
        said = _said(topology, sharing, done)
        keep_svg(svg, topology, machine, usable, done.chosen.cpus, said)


def _first(sharing: SharingMatrix, threads: int | None, path: Path) -> SharingMatrix:
    from autofinity.model.sharing import SharingMatrix

    if threads is None:
        return sharing
    if threads > sharing.threads:
        raise UsageError(f"--threads {threads}: {path} has {sharing.threads}; expected fewer")
    return SharingMatrix(tuple(row[:threads] for row in sharing.cells[:threads]))


def _document(
    topology: Topology,
    machine: str,
    hint: Hint,
    sharing: SharingMatrix,
    done: MappedBeside,
) -> dict[str, Any]:
    from autofinity.model.sharing_metrics import sharing_amount

    def cost_of(m: Mapped) -> float | None:
        return m.cost if is_known(topology, m.cpus) else None

    return {
        "machine": machine,
        "threads": sharing.threads,
        "hint": str(hint),
        "used": sorted(done.used),
        **heterogeneities(sharing),
        "sharing_amount": sharing_amount(sharing),
        "algorithm": done.chosen.name,
        "cpus": list(done.chosen.cpus),
        "cost": cost_of(done.chosen),
        "algorithms": [
            {"algorithm": m.name, "reason": m.reason}
            if m.reason
            else {"algorithm": m.name, "cpus": list(m.cpus), "cost": cost_of(m), "time_s": m.time_s}
            for m in done.all
        ],
    }


def _said(topology: Topology, sharing: SharingMatrix, done: MappedBeside) -> str:
    cost = f"{done.chosen.cost:g}" if is_known(topology, done.chosen.cpus) else "unknown"
    threads = f"{sharing.threads} thread{'s' * (sharing.threads != 1)}"
    return f"{done.chosen.name}: {threads} at a cost of {cost}"


def _print(
    topology: Topology,
    machine: str,
    hint: Hint,
    sharing: SharingMatrix,
    done: MappedBeside,
) -> None:
    from rich.table import Table

    chosen = done.chosen
    print_picture(topology, machine, None, chosen.cpus, _said(topology, sharing, done))
    say(f"CPUs used by all algorithms (hint {hint.shown}): {format_cpu_list(done.used)}")
    say("CPUs in thread order: " + ",".join(map(str, chosen.cpus)))
    table = Table()
    for heading in ("algorithm", "cost", f"of {chosen.name}", "ms", ""):
        table.add_column(heading, justify="right" if heading in {"cost", "ms"} else "left")
    for m in done.all:
        if m.reason:
            table.add_row(m.name, "-", "-", "-", m.reason)
            continue
        known = is_known(topology, m.cpus) and is_known(topology, chosen.cpus)
        ratio = f"{m.cost / chosen.cost:.3f}" if chosen.cost and known else "-"
        time_ms = f"{m.time_s * 1e3:.2f}"
        table.add_row(
            m.name, f"{m.cost:g}" if known else "unknown", ratio, time_ms, MAPPERS[m.name].meaning
        )
    print_table(table)
