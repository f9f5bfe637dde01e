"""`-o`, of every command that writes one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click


def output_option[**P, R](
    what: str, *, required: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """With the line of help that says what is written."""
    return click.option(
        "--output",
        "-o",
        type=click.Path(path_type=Path, dir_okay=False),
        default=None,
        required=required,
        help=what,
    )
