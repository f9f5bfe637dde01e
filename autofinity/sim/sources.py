"""Sources of the values of a machine file: the mark in the comment of each value.

A file is data and its comments are its sources. The mark of a value is the first word of the
comment on its (first) line that is one of `MARKS`, as in `ways = 8  # HW R`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

MARKS = {
    "R": "read",
    "D": "derived",
    "M": "measured",
    "C": "recalled",
    "E": "estimated",
}
"""Kinds of sources: read in the named source; derived from such values as described; measured by
us, with the named command; recalled from a publication that was not read again; estimated, with
bounds."""
WELL_SOURCED = ("R", "D", "M")
BOUNDS = re.compile(
    r"\b(?P<mark>[A-Z]) "
    r"(?:(?P<least>[\d.]+)\.\.(?P<most>[\d.]*\d)|±(?P<share>\d+) %|or (?P<other>\w+))"
)
"""Bounds that may follow a mark. For an estimate: values that were not ruled out. For a derived or
measured value: the range that was read or measured, in which it was chosen."""
RECALLED_WITHIN = 0.20
"""Assumed error of a number that was only recalled: the spread of `sim/draws.py`."""
NAMES = ("name", "model", "cpu", "cpu_models")
"""Keys that identify the machine, and need no source."""


@dataclass(frozen=True, slots=True)
class Sourced:
    """A value of a machine file, as text, and the comment of its first line."""

    table: str
    """Heading of the value's table, without brackets; empty before the first table."""
    key: str
    value: str
    comment: str

    @property
    def mark(self) -> str | None:
        """Mark of the value, one of `MARKS`; None where the comment has none."""
        words = (word.strip("(),.:;") for word in self.comment.split())
        return next((word for word in words if word in MARKS), None)

    @property
    def bounds(self) -> re.Match[str] | None:
        """Match of `BOUNDS` after the mark; None without bounds."""
        found = BOUNDS.search(self.comment)
        return found if found and found["mark"] == self.mark else None


def alternatives(each: Sourced, value: object) -> list[object]:
    """Other possible values by the source, instead of `value`, which is `each.value` as read by
    TOML.

    They are the bounds, where the comment has some (for every number of a list); for a recalled
    number `RECALLED_WITHIN` in both directions (for each number of a list; for the clocks of a
    time); for a recalled size or count half and twice the value, not all of which make a cache. The
    list is empty for recalled text and for values without bounds.
    """
    bounds = each.bounds
    if bounds and bounds["most"]:
        others = [_end(bounds[which], value) for which in ("least", "most")]
        return [other for other in others if other != value]
    if bounds and bounds["other"]:
        return [not value if isinstance(value, bool) else bounds["other"]]
    if (bounds is None and each.mark != "C") or isinstance(value, str):
        return []
    if each.mark == "C" and isinstance(value, int):
        return [value // 2, value * 2]
    share = int(bounds["share"]) / 100 if bounds else RECALLED_WITHIN
    scaled = [_scaled(value, 1 - share), _scaled(value, 1 + share)]
    return [other for other in scaled if other != value]


def _end(bound: str, value: object) -> object:
    """The number `bound` with the type of the number `value`, or a list of it for each number of a
    list.
    """
    if isinstance(value, list):
        return [_end(bound, one) for one in value]
    return int(bound) if isinstance(value, int) and bound.isdigit() else float(bound)


def _scaled(value: object, by: float) -> object:
    if isinstance(value, list) and value and isinstance(value[0], list):
        if len(value) == len(value[0]):  # a SLIT: whole numbers, 10 to oneself
            return [[each if each == 10 else round(each * by) for each in row] for row in value]
        return [[*row[:-1], row[-1] * by] for row in value]  # links: two nodes and a bandwidth
    if isinstance(value, list):
        return [_scaled(one, by) for one in value]
    if isinstance(value, dict):
        return {**value, "clocks": value["clocks"] * by}
    if isinstance(value, int):
        return round(value * by)
    return value * by if isinstance(value, float) else value


def sourced_values(text: str) -> Iterator[Sourced]:
    """Every value of the TOML `text` except names; a value of many lines has one comment."""
    table = key = value = comment = ""
    depth = 0
    for line in text.splitlines():
        code, _, remark = line.partition("#")
        if depth == 0:
            heading = re.match(r"\[+([\w.]+)\]+\s*$", code)
            table = heading.group(1) if heading else table
            key, equals, code = code.partition("=")
            if heading or not equals:
                continue
            value, comment = "", remark.strip()
        value += code.strip()
        depth += code.count("[") - code.count("]")
        if depth == 0 and key.strip() not in NAMES:
            yield Sourced(table, key.strip(), value, comment)


def count_marks(text: str) -> Counter[str]:
    """Number of values of the TOML `text` with each mark; the empty mark counts values without
    one.
    """
    return Counter(each.mark or "" for each in sourced_values(text))


def share_well_sourced(counts: Counter[str]) -> float:
    """Share of the values that were read, derived or measured."""
    return sum(counts[mark] for mark in WELL_SOURCED) / max(1, counts.total())
