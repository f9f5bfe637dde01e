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
NAMES = ("name", "model")
"""Keys that need no source."""


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
