"""`autofinity affinities`: all affinities of a thread count, up to isomorphism."""

from __future__ import annotations

from itertools import islice

import click

from autofinity.cli.help import Command
from autofinity.cli.options.cpus import available_cpus
from autofinity.cli.options.json import json_option
from autofinity.cli.options.placing import (
    available_option,
    tell_unknown,
    threads_option,
    topology_option,
)
from autofinity.cli.page import print_table
from autofinity.cli.printer import page, say_json
from autofinity.model.errors import UsageError
from autofinity.workflow.backends import machine_topology

ROWS_SHOWN = 50
MOST_WITHOUT_LIMIT = 1_000_000


@click.command(cls=Command)
@topology_option
@threads_option
@available_option
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help=f"List at most this many.  [default: {ROWS_SHOWN} in the table, all in JSON]",
)
@json_option
def command(
    machine: str, threads: int, available: str | None, limit: int | None, as_json: bool
) -> None:
    """List all affinities: threads in each LLC of each socket, up to isomorphism."""
    from autofinity.affinity.enumerate import count_affinities, enumerate_affinities

    topology = machine_topology(machine)
    tell_unknown(topology)
    cpus = available_cpus(topology, available)
    count = count_affinities(topology, threads, cpus)
    found = enumerate_affinities(topology, threads, cpus)
    if as_json:
        if limit is None and count > MOST_WITHOUT_LIMIT:
            raise UsageError(
                f"there are {count} affinities; expected --limit N to list more than "
                f"{MOST_WITHOUT_LIMIT} of them"
            )
        listed = [[list(counts) for counts in a.occupancy] for a in islice(found, limit)]
        document = {
            "machine": machine,
            "threads": threads,
            "count": count,
            "affinities": [{"occupancy": occupancy} for occupancy in listed],
        }
        say_json(document)
        return

    from rich.table import Table

    rows = ROWS_SHOWN if limit is None else limit
    console = page()
    counted = f"{_counted(count, 'affinity', 'affinities')} of {_counted(threads, 'thread')}"
    console.print(f"{counted} on {machine}", soft_wrap=True)
    table = Table("affinity", "sockets", "LLCs")
    for affinity in islice(found, rows):
        table.add_row(str(affinity), str(affinity.sockets), str(sum(map(len, affinity.occupancy))))
    if rows:
        print_table(table, console)
    if count > rows:
        console.print(f"and {count - rows} more; --limit N lists more of them")


def _counted(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"
