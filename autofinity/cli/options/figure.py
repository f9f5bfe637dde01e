"""What `figure` and `coverage` share: where their data come from, and where the picture goes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.shipped_observations import shipped_observations
from autofinity.model.errors import LearningError, UsageError

if TYPE_CHECKING:
    from autofinity.report.chart import Chart
    from autofinity.store.observation_table import ObservationTable

picture_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Draw it into this file (.svg, .png or .pdf; needs autofinity[plots]).",
)


def observations_of(given: Path | None, machine: str, threads: int | None) -> ObservationTable:
    """The rows that affinities placed, of a file or the shipped ones of a preset machine.

    With `threads` only those. Raises `UsageError` when none are shipped, `LearningError` when none
    have that thread count.
    """
    from autofinity.store.observations import read

    path = given or shipped_observations(machine)
    if path is None:
        raise UsageError(
            f"no observations of {machine} are shipped; name a file or folder of `autofinity "
            "profile`"
        )
    table = read(path)
    if threads is None:
        return table
    placed = table.placed_by("affinity")
    chosen = placed.take(placed.threads == threads)
    if not len(chosen):
        counts = ", ".join(map(str, sorted(set(placed.threads.tolist()))))
        raise LearningError(f"{path} has no runs with {threads} threads; it has {counts}")
    return chosen


def show_chart(chart: Chart, output: Path | None) -> None:
    """Into the file, or onto the terminal."""
    if output is None:
        from autofinity.report.chart_text import chart_lines

        for line in chart_lines(chart, shutil.get_terminal_size().columns):
            click.echo(line)
        return
    from autofinity.report.chart_image import save

    save(chart, output)
    click.echo(f"{chart.title}: kept in {output}", err=True)
