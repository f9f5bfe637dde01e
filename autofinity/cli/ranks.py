"""Places of ranks: as a table, as JSON, or as texts for another launcher."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.affinity.ranks import Rank, place_ranks
from autofinity.cli.page import print_table
from autofinity.cli.printer import say, say_json
from autofinity.cli.siblings import tell_of_siblings
from autofinity.model.affinity import Hint
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology


def tell_ranks(
    topology: Topology,
    ranks: int,
    threads: int,
    hint: Hint,
    available: frozenset[OsIndex] | None,
    tool: str | None,
    only: int | None,
    *,
    as_json: bool,
) -> None:
    """Print the places of `ranks` processes, or of rank `only`, in the words of `tool` if given.

    Raises `PlacementError` where they find no room, `UsageError` for an unknown tool or one that
    cannot express the places.
    """
    places = place_ranks(topology, ranks, threads, hint, available)
    cpus = [cpu for place in places for cpu in place.cores.cpus]
    tell_of_siblings(topology, hint, cpus, available)
    numbers = range(ranks) if only is None else (only,)
    if tool is not None:
        texts = _texts(tool, places, topology, only)
        if as_json:
            say_json({"tool": tool, "texts": texts})
        else:
            for text in texts:
                say(text)
        return
    if as_json:
        document = [
            {
                "rank": number,
                "cpus": list(places[number].cores.cpus),
                "nodes": list(places[number].nodes),
                "occupancy": [list(row) for row in places[number].cores.affinity.occupancy],
            }
            for number in numbers
        ]
        say_json(
            {"machine": topology.name, "threads": threads, "hint": str(hint), "ranks": document}
        )
        return

    from rich.table import Table

    title = f"{ranks} ranks of {threads} threads on {topology.name}, {hint.shown}"
    table = Table(title=title, title_justify="left")
    for heading in ("rank", "affinity", "CPUs", "nodes"):
        table.add_column(heading, overflow="fold")
    for number in numbers:
        place = places[number]
        nodes = format_cpu_list(place.nodes) or "not known"
        cores = place.cores
        table.add_row(str(number), str(cores.affinity), format_cpu_list(cores.cpus), nodes)
    print_table(table)


def _texts(tool: str, places: Sequence[Rank], topology: Topology, only: int | None) -> list[str]:
    from autofinity.workflow.launcher_texts import texts_of

    texts = texts_of(tool, places, topology)
    if only is None:
        return texts
    if len(texts) < len(places):
        raise UsageError(f"{tool} starts all ranks with one text; expected no --rank")
    return [texts[only]]
