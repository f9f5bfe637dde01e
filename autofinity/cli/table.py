"""`autofinity table`: the action table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import (
    learning_options,
    machine_option,
    observations_argument,
)
from autofinity.cli.options.output import output_option
from autofinity.cli.page import print_table
from autofinity.cli.printer import page, say, say_json
from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import HINTS, Hint

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table


@click.command(
    cls=Command,
    more="--labels --features --selection --metric --bin-number --condense --leeway",
)
@observations_argument
@machine_option
@learning_options("table")
@output_option("Save the table to this file (Parquet), for `autofinity rules`.")
@click.option(
    "--rows",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Number of rows to print.",
)
@json_option
def command(
    observations: Path,
    machine: str | None,
    settings: LearningSettings,
    output: Path | None,
    rows: int,
    as_json: bool,
) -> None:
    """Build the action table: the best hint for each behaviour seen in an affinity.

    OBS is what `profile` kept: its folder, or a Parquet file. Rows are printed by weight, the most
    observed first; --json prints all rows.
    """
    from autofinity.learning import table_file
    from autofinity.workflow.learning_steps import action_table

    done = action_table(observations, settings, machine=machine)
    if output is not None:
        table_file.save(done.table, done.provenance, output)
        say(f"action table kept in {output}", err=True)
    if as_json:
        say_json(_document(done.table))
    else:
        _print(done.table, rows, done.insensitive)


def _document(table: pd.DataFrame) -> dict[str, object]:
    from autofinity.learning.action_frame import bins_of, consequences_of, cut_points_of

    cuts = cut_points_of(table)
    return {
        "counters": list(cuts),
        "cut_points": {name: list(points) for name, points in cuts.items()},
        "rows": [
            {
                "bins": bins,
                "affinity": row.affinity,
                "consequences": {
                    str(hint): value
                    for hint, value in zip(HINTS, known, strict=True)
                    if not math.isnan(value)
                },
                "best": row.best,
                "weight": row.weight,
            }
            for bins, known, row in zip(
                bins_of(table).tolist(),
                consequences_of(table).tolist(),
                table[["affinity", "best", "weight"]].itertuples(),
                strict=True,
            )
        ],
    }


def _print(table: pd.DataFrame, rows: int, insensitive: Sequence[str]) -> None:
    from autofinity.learning.action_frame import cut_points_of

    console = page()
    print_table(_heaviest(table, rows), console)
    console.print("bins of: " + ", ".join(cut_points_of(table)))
    labels = table["best"].value_counts(sort=False)
    counted = ", ".join(f"{Hint.from_letters(hint).shown} {n}" for hint, n in labels.items() if n)
    console.print(f"best hints: {counted or 'none'}")
    if insensitive:
        console.print("insensitive programs, left out: " + ", ".join(insensitive))


def _heaviest(table: pd.DataFrame, rows: int) -> Table:
    """That many rows, the most observed first."""
    import numpy as np
    from rich.table import Table

    from autofinity.learning.action_frame import best_of, bins_of, consequences_of

    shown = Table(title=f"{len(table)} rows", title_justify="left")
    for heading in ("bins", "in affinity", "best"):
        shown.add_column(heading)
    for heading in ("gives", "worst gives", "weight"):
        shown.add_column(heading, justify="right")
    heaviest = table.sort_values("weight", ascending=False, kind="stable").head(rows)
    for bins, known, best, row in zip(
        bins_of(heaviest),
        consequences_of(heaviest),
        best_of(heaviest),
        heaviest.itertuples(),
        strict=True,
    ):
        shown.add_row(
            " ".join(map(str, bins)),
            row.affinity,
            row.best,
            f"{known[best]:.4g}",
            f"{np.nanmin(known):.4g}",
            f"{row.weight:g}",
        )
    return shown
