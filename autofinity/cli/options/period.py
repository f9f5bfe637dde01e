"""Lengths of time with a unit, and the types of `--period`, spelled alike in all commands."""

from __future__ import annotations

import click

UNITS_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def length_ns(text: str, plain: str = "") -> float:
    """Nanoseconds of a length such as `300ms`; NaN for a text that is none.

    A number without a unit is one in the unit `plain`, where that is given.
    """
    unit = next((unit for unit in UNITS_NS if text.endswith(unit)), "")
    try:
        return float(text.removesuffix(unit)) * UNITS_NS[unit or plain]
    except (KeyError, ValueError):
        return float("nan")


def microseconds(value: object) -> float:
    """Microseconds of a length from 1 us to 1,000 s. Raises `click.BadParameter`."""
    return _between(value, 1e3, 1e12) / UNITS_NS["us"]


def seconds(value: object) -> float:
    """Seconds of a length from 1 us to a day. Raises `click.BadParameter`."""
    return _between(value, 1e3, 86_400e9) / UNITS_NS["s"]


def _between(value: object, least_ns: float, most_ns: float) -> float:
    found_ns = length_ns(str(value))
    if not least_ns <= found_ns <= most_ns:
        raise click.BadParameter(
            f"{value}: expected a length such as 500us, 300ms or 1s, from {least_ns / 1e3:g}us to "
            f"{most_ns / 1e9:g}s"
        )
    return found_ns
