"""A machine file as rows, each with the origin of its value, and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from autofinity.foreign_text import one_line


@dataclass(frozen=True, slots=True)
class Row:
    """A value in the form of TOML, and its comment."""

    key: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A measured value, and the difference of the median round from it, as a share."""

    value: float
    spread: float

    @property
    def origin(self) -> str:
        """The text of the comment."""
        return f"M: spread {self.spread:.0%}"


def idle(samples: Sequence[float]) -> Reading:
    """A time: the fastest round, since every disturbance makes a round longer."""
    least = min(samples)
    return Reading(least, median(samples) / least - 1)


def peak(samples: Sequence[float]) -> Reading:
    """A rate: the fastest round."""
    most = max(samples)
    return Reading(most, 1 - median(samples) / most)


def several(readings: Sequence[Reading]) -> Reading:
    """The middle reading of several places; its spread covers the places, too."""
    values = [each.value for each in readings]
    middle = median(values)
    places = (max(values) - min(values)) / middle
    return Reading(middle, max(places, *(each.spread for each in readings)))


def row(key: str, value: float | int, origin: str) -> Row:
    """A number, with four digits where it has a fraction."""
    return Row(key, f"{value:.4g}" if isinstance(value, float) else str(value), origin)


def text_row(key: str, value: str, origin: str = "") -> Row:
    """A quoted string; a byte that is no UTF-8 becomes a question mark."""
    text = value.encode("utf-8", "replace").decode("utf-8")
    return Row(key, '"' + "".join(map(_quoted, text)) + '"', origin)


def _quoted(char: str) -> str:
    """A character in its form between the quotes of a TOML string."""
    if char in '\\"':
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"


def list_row(key: str, values: Sequence[float], origin: str) -> Row:
    """A list of numbers in one line."""
    return Row(key, "[" + ", ".join(f"{value:.4g}" for value in values) + "]", origin)


def matrix_row(key: str, rows: Sequence[Sequence[int]], origin: str) -> Row:
    """A list of lists, one on each line."""
    inner = "".join(f"    {list(each)},\n" for each in rows)
    return Row(key, f"[\n{inner}]", origin)


def toml_of(title: str, rows: Sequence[Row]) -> str:
    """A table with its comments; the first line of a long value has the comment."""
    lines = [title] if title else []
    for each in rows:
        first, newline, rest = f"{each.key} = {each.value}".partition("\n")
        lines.append(f"{first:<32} # {one_line(each.origin)}" if each.origin else first)
        if newline:
            lines.append(rest)
    return "\n".join(lines) + "\n"
