"""`autofinity hints`: the best match of each hint."""

from __future__ import annotations

import json

import click

from autofinity.cli.backends import available_cpus, cpu_list, machine_topology
from autofinity.cli.json_option import json_option
from autofinity.cli.placing_options import available_option, threads_option, topology_option


@click.command()
@topology_option
@threads_option
@available_option
@json_option
def command(machine: str, threads: int, available: str | None, as_json: bool) -> None:
    """The core set that matches each of the eight hints best.

    CPUs are listed in thread order. Occupancy is threads per LLC of each used socket, in descending
    order, without empty ones: the affinity as `autofinity affinities` lists it.
    """
    from autofinity.affinity.hints import all_hints
    from autofinity.model.affinity import HINTS

    topology = machine_topology(machine)
    matches = all_hints(topology, threads, available_cpus(topology, available))
    if as_json:
        document = {
            "machine": machine,
            "threads": threads,
            "hints": [
                {
                    "hint": str(hint),
                    "spread_sockets": hint.spread_sockets,
                    "spread_llcs": hint.spread_llcs,
                    "socket_first": hint.socket_first,
                    "cpus": list(match.cpus),
                    "occupancy": [list(counts) for counts in match.affinity.occupancy],
                }
                for hint, match in zip(HINTS, matches, strict=True)
            ],
        }
        click.echo(json.dumps(document))
        return

    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{threads} threads on {machine}", title_justify="left")
    for heading in ("hint", "affinity", "CPUs", "same as"):
        table.add_column(heading, overflow="fold")
    first: dict[object, str] = {}
    for hint, match in zip(HINTS, matches, strict=True):
        same = first.setdefault(match.affinity, str(hint))
        table.add_row(
            str(hint),
            str(match.affinity),
            cpu_list(frozenset(match.cpus)),
            "" if same == str(hint) else same,
        )
    Console(highlight=False).print(table)
