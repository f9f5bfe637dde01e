"""`perf stat -x SEP`: fields parted by one character, without any heading.

Source: tools/perf/util/stat-display.c and perf-stat(1), CSV FORMAT:

    [time] [CPU0 | S0 cpus | S0-D0-C0 cpus | N0 | comm-tid | summary] count unit event
    [cgroup] [variance%] [run time in ns, percent of it] [metric, its unit]

Versions of before 2014 have no unit, those of before 2015 no run time. Events are not quoted: what
stands between two slashes keeps its commas. Where the language of the machine has a comma before
decimals, it stands so here too, in fields of times and percentages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice, pairwise

from autofinity.measured.counts import Measured, MeasuredError, number
from autofinity.measured.lines import is_cut, lines_of
from autofinity.measured.perf_rows import Row, measured_of

FORMAT = "perf stat -x"

_SEPARATORS = ",;\t|:!@#^~&*+ "
_PROBED = 200
"""Lines by which the separator is found."""
_LONGEST = 1024
"""Characters of a line that are looked at: what follows them are metrics."""
_MISSING = re.compile(r"<not (counted|supported)>")
_VALUE = re.compile(r"-?\d+(?:[.,]\d+)?|-?(?:nan|inf)|<not_(?:counted|supported)>")
"""A count, damaged ones too, or why there is none."""
_UNIT = re.compile(r"[A-Za-z%/]{0,16}(?:/sec)?|[0-9.e+-]*[KMGT]?i?B(?:/s)?|2\^-?\d+ \w+")
_EVENT = re.compile(r"(?!<)[A-Za-z][\w.:@*\-]{1,200}(?:/[^/]{0,400}/\w*)?(?: \[\w+\]| 0x\w+)?")
_TIME = re.compile(r"\s*\d+[.,]\d{3,9}")
_THREAD = re.compile(r".{1,40}-\d{1,10}")
_PLACE = re.compile(r"(?:CPU|S|N|D|C)\d+(?:-[SDCN]\d+)*|summary")
_PREFIX_FIELDS = 4
_HELD = "\x1a"
"""Stands for the separator between two slashes."""


def separator_of(text: str) -> str:
    """The separator by which most of the first lines are counts; empty: they are none."""
    first = [line for line in islice(lines_of(text), _PROBED) if _tells(line)]
    if not first:
        return ""
    found = {
        sep: sum(_row(line, sep) is not None for line in first)
        for sep in _SEPARATORS
        if any(sep in line for line in first)
    }
    best = max(found, key=lambda sep: found[sep], default="")
    return best if best and found[best] >= max(1, len(first) // 2) else ""


def read_perf_stat_csv(text: str) -> Measured:
    """Raises `MeasuredError`."""
    sep = separator_of(text)
    return measured_of(FORMAT, _rows(text, sep) if sep else ())


def _rows(text: str, sep: str) -> Iterator[Row]:
    line, rows, most = "", 0, 0
    for line in lines_of(text):
        rows += 1
        row = _row(line, sep) if _tells(line) else None
        if row is not None:
            yield row
            most = max(most, len(_fields(line, sep)))
    if is_cut(text) and _tells(line) and len(_fields(line, sep)) < most:
        raise MeasuredError(
            f"line {rows}: got '{line[-40:]}' without its end, expected a whole row of {FORMAT}: "
            "the file is cut off"
        )


def _tells(line: str) -> bool:
    """Whether a line has a count: not comments, blanks, and further metrics of the event above."""
    start = line.lstrip()[:1]
    return start.isalnum() or start in ("<", "-")


def _row(line: str, sep: str) -> Row | None:
    fields = _fields(line[:_LONGEST], sep)
    # From the right: a time or a CPU before it would do as a count and an event, too.
    for at in reversed(range(min(_PREFIX_FIELDS, len(fields)))):
        if not _VALUE.fullmatch(fields[at]):
            continue
        for event_at in (at + 2, at + 1):
            if event_at < len(fields) and _is_event(fields, at, event_at):
                return _made(fields, at, event_at)
    return None


def _fields(line: str, sep: str) -> list[str]:
    line = _MISSING.sub(r"<not_\1>", line)
    first = line.find("/")
    second = line.find("/", first + 1)
    if 0 <= first < second:
        line = line[:first] + line[first:second].replace(sep, _HELD) + line[second:]
    return [field.strip().replace(_HELD, sep) for field in line.split(sep)]


def _is_event(fields: list[str], at: int, event_at: int) -> bool:
    if event_at == at + 2 and not _UNIT.fullmatch(fields[at + 1]):
        return False
    event = fields[event_at]
    if not _EVENT.fullmatch(event) or _PLACE.fullmatch(event):
        return False
    return _is_prefix(fields[:at])


def _is_prefix(prefix: list[str]) -> bool:
    """Whether these are fields of time, place and number of CPUs, by their form or position."""
    return all(
        _TIME.fullmatch(field)
        or _PLACE.fullmatch(field)
        or _THREAD.fullmatch(field)
        or (before and field.isdecimal())
        for field, before in zip(prefix, ["", *prefix], strict=False)
    )


def _made(fields: list[str], at: int, event_at: int) -> Row:
    prefix = fields[:at]
    runtime, percent = _times(fields[event_at + 1 :])
    threads = [
        field for field in prefix if _THREAD.fullmatch(field) and not _PLACE.fullmatch(field)
    ]
    return Row(
        fields[event_at],
        fields[at].replace("<not_", "<not "),
        runtime,
        percent,
        interval=bool(prefix) and _TIME.fullmatch(prefix[0]) is not None,
        thread=threads[-1] if threads else "",
    )


def _times(rest: list[str]) -> tuple[float, float]:
    """Nanoseconds and percent: the first two numbers that follow each other."""
    for first, second in pairwise(rest[:4]):
        if first.isdecimal() and 0 <= number(second) <= 100:
            return number(first), number(second)
    return math.nan, math.nan
