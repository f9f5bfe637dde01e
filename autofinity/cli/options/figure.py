"""What `figure` and `coverage` share: where the picture goes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from autofinity.report.chart import Chart

picture_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Draw it into this file (.svg, .png or .pdf; needs autofinity[plots]).",
)


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
