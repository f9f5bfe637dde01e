"""The type of `--period-us`, the same in every command."""

from __future__ import annotations

import click


def microseconds(value: object) -> float:
    """A number of microseconds from 1 to 10⁹. Raises `click.BadParameter` for anything else."""
    try:
        number = float(str(value))
    except ValueError:
        number = float("nan")
    if not 1 <= number <= 1e9:
        raise click.BadParameter(f"{value}: expected a number of microseconds, 1 to 1000000000")
    return number
