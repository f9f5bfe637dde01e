"""Where the values of a machine file come from: the mark in the comment of each.

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
"""Read in the source that is named; derived from such by what is said; measured by us, with the
command that is named; recalled from a publication that was not read again; estimated, with bounds.
"""
WELL_SOURCED = ("R", "D", "M")
BOUNDS = re.compile(
    r"\b(?P<mark>[A-Z]) "
    r"(?:(?P<least>[\d.]+)\.\.(?P<most>[\d.]*\d)|±(?P<share>\d+) %|or (?P<other>\w+))"
)
"""What may follow a mark. Of an estimate: what was not ruled out; of a derived or measured value:
what was read or measured, within which it was chosen."""
RECALLED_WITHIN = 0.20
"""By how much a number that was only recalled is taken to be off: the spread of `sim/draws.py`."""
NAMES = ("name", "model", "cpu", "cpu_models")
"""Keys that say which machine it is, and need no source."""


@dataclass(frozen=True, slots=True)
class Sourced:
    """A value of a machine file, as text, and the comment of its first line."""

    table: str
    """Heading that it stands under, without brackets; empty before the first."""
    key: str
    value: str
    comment: str

    @property
    def mark(self) -> str | None:
        """One of `MARKS`; None where the comment has none."""
        words = (word.strip("(),.:;") for word in self.comment.split())
        return next((word for word in words if word in MARKS), None)

    @property
    def bounds(self) -> re.Match[str] | None:
        """What `BOUNDS` finds behind the mark."""
        found = BOUNDS.search(self.comment)
        return found if found and found["mark"] == self.mark else None


def alternatives(each: Sourced, value: object) -> list[object]:
    """What the source leaves possible instead of `value`, which is what TOML makes of `each.value`.

    The bounds, where the comment has some (for every number of a list); `RECALLED_WITHIN` of a
    recalled number, both ways (of each number of a list; the clocks of a time); half and twice a
    recalled size or count, of which not every one makes a cache. Nothing for recalled text and for
    what has no bounds.
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
    """The number `bound`, as the kind of number that `value` is, or for each of a list."""
    if isinstance(value, list):
        return [_end(bound, one) for one in value]
    return int(bound) if isinstance(value, int) and bound.isdigit() else float(bound)


def _scaled(value: object, by: float) -> object:
    if isinstance(value, list) and value and isinstance(value[0], list):
        if len(value) == len(value[0]):  # a SLIT: whole numbers, 10 to oneself
            return [[each if each == 10 else round(each * by) for each in row] for row in value]
        return [[*row[:-1], row[-1] * by] for row in value]  # links: two nodes, and how fast
    if isinstance(value, list):
        return [_scaled(one, by) for one in value]
    if isinstance(value, dict):
        return {**value, "clocks": value["clocks"] * by}
    if isinstance(value, int):
        return round(value * by)
    return value * by if isinstance(value, float) else value


def sourced_values(text: str) -> Iterator[Sourced]:
    """Every value of the TOML `text` but names; one that takes many lines has one comment."""
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
    """How many values of the TOML `text` have each mark; the empty mark counts those without."""
    return Counter(each.mark or "" for each in sourced_values(text))


def share_well_sourced(counts: Counter[str]) -> float:
    """Of the values, those read, derived or measured."""
    return sum(counts[mark] for mark in WELL_SOURCED) / max(1, counts.total())
