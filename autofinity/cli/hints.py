"""`autofinity hints`: what each hint means, and its best match for a thread count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from autofinity.affinity.launchers.table import LAUNCHERS, WORDS
from autofinity.cli.given_options import given_options
from autofinity.cli.help import Command
from autofinity.cli.hint_meanings import tell_meanings, wishes
from autofinity.cli.options.cpus import available_cpus
from autofinity.cli.options.hint import HINT
from autofinity.cli.options.json import json_option
from autofinity.cli.options.placing import (
    available_option,
    near_nodes,
    near_option,
    tell_unknown,
    topology_option,
)
from autofinity.cli.page import print_table
from autofinity.cli.printer import say, say_json
from autofinity.cli.ranks import tell_ranks
from autofinity.cli.siblings import tell_of_siblings
from autofinity.model.affinity import HINTS, PACKED, SPREAD, Hint
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import UsageError
from autofinity.workflow.backends import machine_topology

if TYPE_CHECKING:
    from autofinity.model.affinity import Affinity
    from autofinity.model.placement import CoreSet
    from autofinity.model.topology import OsIndex, Topology


@click.command(cls=Command, more="--available --rank")
@topology_option
@click.option(
    "--threads", "-t", type=int, help="Show where this many threads would be placed by each hint."
)
@available_option
@near_option
@click.option("--hint", type=HINT, help="Show only this hint, given by name or letters.")
@click.option(
    "--as",
    "tool",
    metavar="TOOL",
    help="With --hint: print the CPUs for another launcher: " + ", ".join(LAUNCHERS) + "; list "
    "describes them.",
)
@click.option(
    "--ranks",
    "-n",
    type=click.IntRange(min=1),
    help="With --hint: place this number of processes, of --threads threads each, over the "
    "machine.",
)
@click.option(
    "--rank",
    type=click.IntRange(min=0),
    help="With --ranks: print the place of this rank only, from 0.",
)
@json_option
def command(
    machine: str,
    threads: int | None,
    available: str | None,
    near: str | None,
    hint: Hint | None,
    tool: str | None,
    ranks: int | None,
    rank: int | None,
    as_json: bool,
) -> None:
    """List the eight hints and their meaning; with --threads, the best match of each hint.

    A hint has three letters: S, spread over sockets; L, spread over last-level caches; P, sockets
    have priority. A capital means yes.

    CPUs are sorted in the table, and in thread order with --json and --as. An affinity such as
    {4,2}{1} has a pair of braces for each used socket, and in it the number of threads in each used
    LLC.

    With --as, the CPUs are printed for programs that another launcher starts:

        $(autofinity hints -t 8 --hint packed --as taskset) ./app

    With --ranks, ranks of one program get disjoint places and their share of the NUMA nodes, and
    the hint places the threads of each rank in its share.
    """
    from autofinity.affinity.hints import all_hints

    if tool == "list":
        _tell_launchers(as_json=as_json)
        return
    _refuse_misfits(hint, threads, tool, ranks, rank, near)
    if given_options(("machine",)):
        machine_topology(machine)  # an unknown name is refused without --threads, too
    if threads is None:
        if tool is not None or available is not None or near is not None:
            raise UsageError("core sets need a thread count; give it with --threads")
        tell_meanings(HINTS if hint is None else (hint,), as_json=as_json)
        return
    topology = machine_topology(machine)
    tell_unknown(topology)
    usable = available_cpus(topology, available)
    if ranks is not None:
        assert hint is not None
        tell_ranks(topology, ranks, threads, hint, usable, tool, rank, as_json=as_json)
        return
    nodes = near_nodes(topology, machine, near)
    matches = dict(zip(HINTS, all_hints(topology, threads, usable, nodes), strict=True))
    if hint is not None:
        matches = {hint: matches[hint]}
        tell_of_siblings(topology, hint, matches[hint].cpus, usable)
        if tool is not None:
            _tell_text(tool, matches[hint].cpus, topology, as_json=as_json)
            return
    if as_json:
        say_json(_document(machine, threads, matches))
    else:
        _print(f"{threads} threads on {machine}", matches)


def _refuse_misfits(
    hint: Hint | None,
    threads: int | None,
    tool: str | None,
    ranks: int | None,
    rank: int | None,
    near: str | None,
) -> None:
    """Raise `UsageError` for options that do not go together."""
    if tool is not None and hint is None:
        raise UsageError("--as needs one hint; choose it with --hint")
    if ranks is not None and (hint is None or threads is None):
        raise UsageError("--ranks needs --hint and --threads, the threads of each rank")
    if ranks is not None and near is not None:
        raise UsageError("--ranks spreads ranks over all nodes; expected it without --near")
    if rank is not None and rank >= (ranks or 0):
        raise UsageError(f"there is no rank {rank}; expected --ranks above it")


def _tell_text(tool: str, cpus: Sequence[OsIndex], topology: Topology, *, as_json: bool) -> None:
    """Print the CPUs in the words of another launcher."""
    from autofinity.workflow.launcher_texts import text_of

    line = text_of(tool, cpus, topology)
    if as_json:
        say_json({"tool": tool, "line": line})
    else:
        say(line)


def _document(machine: str, threads: int, matches: Mapping[Hint, CoreSet]) -> dict[str, object]:
    return {
        "machine": machine,
        "threads": threads,
        "hints": [
            {
                **wishes(hint),
                "cpus": list(match.cpus),
                "occupancy": [list(counts) for counts in match.affinity.occupancy],
            }
            for hint, match in matches.items()
        ],
    }


def _print(title: str, matches: Mapping[Hint, CoreSet]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for heading in ("hint", "affinity", "CPUs", "same as"):
        table.add_column(heading, overflow="fold")
    # Spread and packed come first: the others are compared with hints of short names.
    first: dict[Affinity, Hint] = {}
    for hint in (SPREAD, PACKED, *matches):
        if hint in matches:
            first.setdefault(matches[hint].affinity, hint)
    for hint, match in matches.items():
        same = first[match.affinity]
        table.add_row(
            hint.shown,
            str(match.affinity),
            format_cpu_list(match.cpus),
            "" if same == hint else same.name,
        )
    print_table(table)


def _tell_launchers(*, as_json: bool) -> None:
    if as_json:
        say_json(
            {
                name: {
                    "meaning": form.meaning,
                    "text": form.file or WORDS,
                    "pins_threads": form.pins_threads,
                    "checked": form.checked,
                }
                for name, form in LAUNCHERS.items()
            }
        )
        return
    from rich.table import Table

    table = Table(title="Tools of --as", title_justify="left")
    for heading in ("tool", "meaning", "text", "thread i on the i-th CPU", "checked"):
        table.add_column(heading, overflow="fold")
    for name, form in LAUNCHERS.items():
        pinned = "yes" if form.pins_threads else "no: all threads on the whole set"
        table.add_row(name, form.meaning, form.file or WORDS, pinned, form.checked)
    print_table(table)
