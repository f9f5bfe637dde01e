"""`-o`, of every command that writes one file, or a folder of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click


def output_option[**P, R](
    what: str, *, required: bool = False, folder: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """With the line of help that says what is written; `folder`: it may be a folder."""
    return click.option(
        "--output",
        "-o",
        type=click.Path(path_type=Path, dir_okay=folder),
        default=None,
        required=required,
        help=what,
    )
