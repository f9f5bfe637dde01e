"""`autofinity counters`: which counters are the most informative."""

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
from autofinity.cli.printer import page, say_json
from autofinity.learning.settings import LearningSettings


@click.command(cls=Command)
@observations_argument
@machine_option
@learning_options("counters")
@json_option
def command(
    observations: Path, machine: str | None, settings: LearningSettings, as_json: bool
) -> None:
    """Choose the features of a policy, among those that the PMU can count at once.

    OBS is what `profile` kept: its folder, or a Parquet file. Counters or ratios are added while
    the loss on held-out programs falls (--selection regret), or ranked by correlation-based feature
    selection (cfs, as WEKA's CfsSubsetEval: the best feature is added each time, also where WEKA's
    own search would stop).
    """
    from autofinity.workflow.learning_steps import chosen_counters

    done = chosen_counters(observations, settings, machine=machine)
    report = done.report
    if as_json:
        document = {
            "chosen": list(report.chosen),
            "ranking": [{"counter": r.counter, "merit": r.merit} for r in report.ranking],
            "stopped_at": report.stopped_at,
            "left_out": list(report.left_out),
            "insensitive": list(done.insensitive),
        }
        say_json(document)
        return
    from rich.table import Table

    table = Table(title=report.note, title_justify="left")
    table.add_column("", justify="right")
    table.add_column("counter", overflow="fold")
    table.add_column("merit of the set", justify="right")
    table.add_column("")
    for index, ranked in enumerate(report.ranking):
        marks = ["chosen"] if ranked.counter in report.chosen else []
        if index + 1 == report.stopped_at:
            marks.append("the search alone stops here")
        table.add_row(str(index + 1), ranked.counter, f"{ranked.merit:.4f}", ", ".join(marks))
    console = page()
    print_table(table, console)
    if report.left_out:
        console.print("never vary, left out: " + ", ".join(report.left_out))
    if done.insensitive:
        console.print("insensitive programs, left out: " + ", ".join(done.insensitive))
