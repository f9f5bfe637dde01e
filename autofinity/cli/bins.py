"""`autofinity bins`: where counters are cut."""

from __future__ import annotations

import json
from pathlib import Path

import click

from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import (
    learning_options,
    machine_option,
    observations_argument,
)
from autofinity.cli.page import print_table
from autofinity.learning.settings import LearningSettings


@click.command()
@observations_argument
@machine_option
@learning_options("bins")
@json_option
def command(
    observations: Path, machine: str | None, settings: LearningSettings, as_json: bool
) -> None:
    """Cut the chosen counters into bins and count what falls into each.

    OBS is a folder of observations. Bins are (lower, upper].
    """
    import numpy as np

    from autofinity.learning.discretise import bin_of
    from autofinity.learning.pipeline import chosen_features, cut, prepare
    from autofinity.store.observations import read
    from autofinity.workflow.observations import hints_for

    seen = read(observations)
    hints_of = hints_for(seen, machine, settings.leeway)
    ready = prepare(seen, settings, hints_of)
    counters, _ = chosen_features(ready, settings, hints_of)
    cuts = cut(ready, counters, settings)
    held = {}
    for name in counters:
        found = bin_of(ready.behaviours.counters[name], cuts[name])
        held[name] = np.bincount(found[found >= 0], minlength=len(cuts[name]) + 1).tolist()
    if as_json:
        document = [
            {"counter": name, "cut_points": list(cuts[name]), "observations": held[name]}
            for name in counters
        ]
        click.echo(json.dumps({"counters": document}))
        return
    from rich.table import Table

    table = Table(title=f"{settings.discretisation}, {settings.bins} bins", title_justify="left")
    table.add_column("counter", overflow="fold")
    table.add_column("above", justify="right")
    table.add_column("up to", justify="right")
    table.add_column("observations", justify="right")
    for name in counters:
        edges = ["-∞", *(f"{cut:.4g}" for cut in cuts[name]), "∞"]
        for index, count in enumerate(held[name]):
            label = name if index == 0 else ""
            table.add_row(label, edges[index], edges[index + 1], str(count))
        table.add_section()
    print_table(table)
