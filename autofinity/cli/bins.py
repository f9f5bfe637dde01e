"""`autofinity bins`: where counters are cut."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import (
    learning_options,
    machine_option,
    observations_argument,
)
from autofinity.cli.page import print_table
from autofinity.cli.printer import say_json
from autofinity.learning.settings import LearningSettings


@click.command(cls=Command, more="--labels --features --selection --metric")
@observations_argument
@machine_option
@learning_options("bins")
@json_option
def command(
    observations: Path, machine: str | None, settings: LearningSettings, as_json: bool
) -> None:
    """Cut the chosen counters into bins and count the samples in each bin.

    OBS is what `profile` kept: its folder, or a Parquet file. Bins are (lower, upper].
    """
    from autofinity.workflow.learning_steps import cut_counters

    done = cut_counters(observations, settings, machine=machine)
    if as_json:
        document = [
            {"counter": name, "cut_points": list(cuts), "observations": done.behaviours[name]}
            for name, cuts in done.cut_points.items()
        ]
        say_json({"counters": document})
        return
    from rich.table import Table

    table = Table(title=f"{settings.discretisation}, {settings.bins} bins", title_justify="left")
    table.add_column("counter", overflow="fold")
    table.add_column("above", justify="right")
    table.add_column("up to", justify="right")
    table.add_column("observations", justify="right")
    for name, cuts in done.cut_points.items():
        edges = ["-∞", *(f"{cut:.4g}" for cut in cuts), "∞"]
        for index, count in enumerate(done.behaviours[name]):
            label = name if index == 0 else ""
            table.add_row(label, edges[index], edges[index + 1], str(count))
        table.add_section()
    print_table(table)
