"""A table of one's own: CSV or JSON, with autofinity's names of counters.

A row is a thread, or all of them together. Numbers are per thread and second; with a column
`seconds` they are counts over so many seconds of one thread. `thread` and `cpu` may stand beside
them. Missing values are left empty (JSON: null).

    thread,cpu,seconds,instructions,llc_requests,llc_misses
    4711,0,2.0,5.1e9,8.0e7,6.5e7
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from autofinity.measured.counts import (
    MOST_EVENTS,
    MOST_THREADS,
    Count,
    Measured,
    MeasuredError,
    number,
    total,
)
from autofinity.measured.lines import LONGEST_LINE, lines_of

FORMAT = "a table of one's own"
MOST_CHARACTERS = 8 << 20
"""Objects that are read from JSON take many times as much memory."""
_BESIDE = ("thread", "cpu", "seconds")
_SEPARATORS = ",;\t"


def is_own_csv(text: str, known: Collection[str]) -> bool:
    """Whether the first line with content names a counter that is `known`."""
    head = next(_telling(text), "")
    names = _split(head, _separator(head)) if head else []
    return any(name in known for name in names) and not any(number(name) >= 0 for name in names)


def read_own_csv(text: str, known: Collection[str]) -> Measured:
    """Raises `MeasuredError`."""
    rows = _telling(text)
    head = next(rows, "")
    separator = _separator(head)
    names = _split(head, separator)
    if len(set(names)) < len(names):
        raise MeasuredError("got a column twice in the heading, expected each once")
    found: list[Mapping[str, str]] = []
    for row, line in enumerate(rows, 1):
        cells = _split(line, separator)
        if len(cells) != len(names):
            raise MeasuredError(
                f"row {row}: got {len(cells)} cells, expected {len(names)} as in the heading"
            )
        found.append(dict(zip(names, cells, strict=True)))
        _check_many(found)
    return _measured(found, known)


def read_own_json(text: str, known: Collection[str]) -> Measured:
    """An object, or a list of them. Raises `MeasuredError`."""
    if len(text) > MOST_CHARACTERS:
        raise MeasuredError(f"got JSON of more than {MOST_CHARACTERS >> 20} MiB, expected a table")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise MeasuredError(
            f"got JSON that cannot be read ({why}), expected an object with counters, or a list "
            "of such"
        ) from None
    rows = document if isinstance(document, list) else [document]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise MeasuredError("got JSON of another kind, expected an object with counters, or a list")
    _check_many(rows)
    return _measured([{name: _cell(row[name]) for name in row} for row in rows], known)


def _measured(rows: list[Mapping[str, str]], known: Collection[str]) -> Measured:
    if not rows:
        raise MeasuredError("got a heading alone, expected at least one row")
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not any(name in known for name in names):
        told = ", ".join(names[:8]) or "nothing"
        raise MeasuredError(
            f"got columns {told}, expected autofinity's names of counters, such as instructions, "
            "cycles, llc_requests, llc_misses (docs/advise.md)"
        )
    if len(names) > MOST_EVENTS:
        raise MeasuredError(f"got more than {MOST_EVENTS} columns, expected a counter each")
    counts: dict[str, Count] = {}
    failed: dict[str, str] = {}
    for name in names:
        if name in _BESIDE:
            continue
        some = [_count(row, name) for row in rows if row.get(name, "")]
        if some:
            counts[name] = total(some)
        else:
            failed[name] = "left empty"
    if not counts:
        raise MeasuredError("got no number, expected at least one row with a counter")
    by_thread = any("thread" in row for row in rows)
    cpus = [_cpu(row) for row in rows]
    return Measured(
        FORMAT,
        counts,
        failed,
        threads=len(rows) if by_thread else 0,
        cpus=tuple(cpus) if by_thread and all(cpu >= 0 for cpu in cpus) else (),
    )


def _count(row: Mapping[str, str], name: str) -> Count:
    value = number(row[name])
    if math.isnan(value):
        got = row[name][:40]
        raise MeasuredError(f"got {name_of(name)} {got!r}, expected a number of 0 or more")
    seconds = number(row["seconds"]) if row.get("seconds", "") else 1.0
    if not seconds > 0:
        got = row["seconds"][:40]
        raise MeasuredError(f"got seconds {got!r}, expected a number above 0")
    return Count(value, seconds)


def name_of(column: str) -> str:
    """Name of a column for messages: cut off after 60 characters."""
    return column if len(column) <= 60 else column[:57] + "..."


def _cpu(row: Mapping[str, str]) -> int:
    cell = row.get("cpu", "")
    return int(cell) if cell.isdecimal() and len(cell) <= 6 else -1


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else repr(value)[:64]


def _telling(text: str) -> Iterator[str]:
    for line in lines_of(text):
        line = line.strip()
        if line and not line.startswith("#"):
            yield line


def _separator(head: str) -> str:
    return max(_SEPARATORS, key=head.count)


def _split(line: str, separator: str) -> list[str]:
    try:
        cells = next(csv.reader([line[:LONGEST_LINE]], delimiter=separator), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def _check_many(rows: list[Any]) -> None:
    if len(rows) > MOST_THREADS:
        raise MeasuredError(f"got more than {MOST_THREADS} rows, expected one a thread")
