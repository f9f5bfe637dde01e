"""`autofinity table`: the action table."""

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
from autofinity.cli.page import page, print_table
from autofinity.learning.settings import LearningSettings


@click.command()
@observations_argument
@machine_option
@learning_options("table")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the table here (Parquet), for `autofinity rules`.",
)
@click.option(
    "--rows", type=click.IntRange(min=0), default=20, show_default=True, help="Rows to print."
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
    """Build the action table: which hint pays for a behaviour seen in an affinity.

    OBS is a folder of observations. Rows are printed by weight, the most observed first; --json
    prints all of them.
    """
    import numpy as np

    from autofinity.learning import table_file
    from autofinity.learning.pipeline import chosen_features, cut, make_table, prepare
    from autofinity.model.affinity import HINTS
    from autofinity.store.observations import read
    from autofinity.workflow.observations import hints_for, machine_of

    seen = read(observations)
    hints_of = hints_for(seen, machine, settings.leeway)
    ready = prepare(seen, settings, hints_of)
    counters, _ = chosen_features(ready, settings, hints_of)
    cuts = cut(ready, counters, settings)
    table = make_table(ready, counters, cuts, settings, hints_of)
    if output is not None:
        provenance = {
            "machine": machine_of(seen),
            "settings": settings.as_dict(),
            "observations": {"digest": seen.digest(), "rows": len(seen)},
        }
        table_file.save(table, provenance, output)
        click.echo(f"action table kept in {output}", err=True)
    if as_json:
        document = {
            "counters": list(table.counters),
            "cut_points": {name: list(cuts[name]) for name in counters},
            "rows": [
                {
                    "bins": list(row.bins),
                    "affinity": str(row.affinity),
                    "consequences": {
                        str(hint): value
                        for hint, value in zip(HINTS, row.consequences, strict=True)
                        if value == value
                    },
                    "best": str(HINTS[row.best]),
                    "weight": row.weight,
                }
                for row in table.rows()
            ],
        }
        click.echo(json.dumps(document))
        return
    from rich.table import Table

    shown = Table(title=f"{len(table)} rows", title_justify="left")
    for heading, side in (("bins", "left"), ("in affinity", "left"), ("best", "left")):
        shown.add_column(heading, justify=side)  # type: ignore[arg-type]
    for heading in ("gives", "worst gives", "weight"):
        shown.add_column(heading, justify="right")
    listed = list(table.rows())
    for index in np.argsort(-table.weight, kind="stable")[:rows]:
        row = listed[index]
        known = [value for value in row.consequences if value == value]
        shown.add_row(
            " ".join(map(str, row.bins)),
            str(row.affinity),
            str(HINTS[row.best]),
            f"{row.consequences[row.best]:.4g}",
            f"{min(known):.4g}",
            f"{row.weight:g}",
        )
    console = page()
    print_table(shown, console)
    console.print("bins of: " + ", ".join(table.counters))
    labels = np.bincount(table.best, minlength=len(HINTS))
    counted = ", ".join(f"{hint} {n}" for hint, n in zip(HINTS, labels, strict=True) if n)
    console.print(f"best hints: {counted or 'none'}")
    if ready.insensitive:
        console.print("insensitive programs, left out: " + ", ".join(ready.insensitive))
