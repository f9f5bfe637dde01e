"""`autofinity coverage`: which behaviours the programs of a suite show."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.help import Command
from autofinity.cli.options.figure import picture_option, show
from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import learning_options
from autofinity.cli.options.placing import simulated_option
from autofinity.cli.page import print_table
from autofinity.cli.printer import say, say_json
from autofinity.learning.settings import LearningSettings

if TYPE_CHECKING:
    from autofinity.workflow.coverage import Covered


@click.command(
    "coverage",
    cls=Command,
    more="--features --selection --counters --bins --bin-number",
)
@simulated_option
@click.argument("observations", type=click.Path(path_type=Path), required=False)
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="Thread count of the runs.",
)
@learning_options("coverage")
@picture_option
@json_option
def command(
    machine: str,
    observations: Path | None,
    threads: int,
    output: Path | None,
    as_json: bool,
    settings: LearningSettings,
) -> None:
    """List the behaviours of programs, and the programs that add none.

    A behaviour is a discretised sample of any affinity (figure 10 of the paper). Options set the
    counters and how counters are cut (--paper: as in the paper). OBSERVATIONS come from `profile`;
    the default is the shipped ones of the machine.
    """
    from autofinity.workflow.coverage import coverage

    covered = coverage(machine, threads, settings, observations)
    if as_json:
        document = {
            "counters": list(covered.counters),
            "programs": [asdict(each) for each in covered.programs],
            "adding_nothing": covered.adding_nothing,
        }
        say_json(document)
    if output is not None:
        from autofinity.papers.cc13.figure_10 import FIGURE

        show(FIGURE.draw(covered.programs, machine), output)
    elif not as_json:
        _print(covered)
        added = ", ".join(covered.adding_nothing) or "none"
        say(f"programs that add no behaviour: {added}")


def _print(covered: Covered) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = " · ".join(covered.counters)
    shown = Table("program", box=SIMPLE_HEAD, title=title, title_justify="left")
    for heading in ("behaviours", "cumulative", "new", "its own"):
        shown.add_column(heading, justify="right")
    for each in covered.programs:
        numbers = (each.behaviours, each.cumulative, each.new, each.own)
        shown.add_row(each.program, *map(str, numbers))
    print_table(shown)
