"""`--jobs`, `--on` and `--work`, of every command that runs programs and keeps what they showed."""

from __future__ import annotations

from pathlib import Path

import click

jobs_option = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    default=None,
    show_default="all cores",
    help="Number of runs at the same time.",
)


def _place(_: click.Context, __: click.Parameter, value: str | None) -> str:
    if value == "":
        raise click.BadParameter("got nothing; leave it out to make runs here")
    return value or ""


on_option = click.option(
    "--on",
    default=None,
    callback=_place,
    metavar="PLACE",
    help="Make runs on dask://HOST:PORT, tls://HOST:PORT or slurm instead of here.",
)
work_option = click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder for traces and observations; an interrupted command resumes there."
    "  [default: in the user's cache]",
)
