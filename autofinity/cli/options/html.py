"""`--html`, of every command that writes its result as a page."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.options.output import OutputFile


def _checked(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """The path, once a page can be written there: before any work is done for it."""
    if path is None:
        return None
    from autofinity.report.plotly_script import check_plotly

    check_plotly()
    return path


html_option = click.option(
    "--html",
    metavar="FILE",
    type=OutputFile(),
    callback=_checked,
    help="Write a page for a browser, too, with drawings and plots (needs autofinity[plots]).",
)
