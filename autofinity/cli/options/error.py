"""`--error`: how closely sampled traces are replayed."""

from __future__ import annotations

import click


def share(value: object) -> float:
    """`1%` or `0.01` as a share above 0 and below 1. Raises `click.BadParameter`."""
    text = str(value)
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = float("nan")
    if not 0 < number < 1:
        raise click.BadParameter(f"{value}: expected a share such as 1% or 0.01, below 100%")
    return number


error_option = click.option(
    "--error",
    type=share,
    default="1%",
    show_default=True,
    help="Replay windows of sampled traces until the standard error of the time is this small.",
)
