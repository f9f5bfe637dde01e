"""`perf stat -j`: a JSON object a line.

Since Linux 5.19; source: tools/perf/util/stat-display.c. `counter-value` is a text
(`"1234.000000"`, `"<not counted>"`); before it may stand `interval`, and `cpu`, `core`, `socket`,
`node` or `thread`; after it what perf makes of it, which nothing here hangs on. Lines of metrics
(no `counter-value`), comments and what the program itself wrote are passed over. Some versions
leave out a value between colon and comma, or write `nan` and `inf` as C does: such rows are read
as far as they say something. A row that ends before its last brace is an error: the file was cut.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from autofinity.measured.counts import Measured, MeasuredError, number
from autofinity.measured.lines import is_cut, lines_of
from autofinity.measured.perf_rows import Row, measured_of

FORMAT = "perf stat -j"
_NO_VALUE = re.compile(r'("(?:[^"\\]|\\.)*")|:\s*(?:-?(?:nan|inf))?(?=\s*[,}])')
"""A text, or a colon with no value, or with a number that JSON has not."""


def is_perf_stat_json(text: str) -> bool:
    """Whether some line is a count, or a metric, of perf's."""
    return any(
        '"counter-value"' in line or '"metric-value"' in line
        for line in lines_of(text)
        if line.lstrip().startswith("{")
    )


def read_perf_stat_json(text: str) -> Measured:
    """Raises `MeasuredError`."""
    return measured_of(FORMAT, _rows(text))


def _rows(text: str) -> Iterator[Row]:
    at, line = 0, ""
    for at, line in enumerate(lines_of(text), 1):
        line = line.strip()
        if not line.startswith("{") or '"counter-value"' not in line:
            continue
        found = _object(line, at)
        event = found.get("event")
        if not isinstance(event, str) or not event:
            continue
        yield Row(
            event,
            _value(found.get("counter-value"), event, at),
            _number(found.get("event-runtime")),
            _number(found.get("pcnt-running")),
            interval="interval" in found,
            thread=_text(found.get("thread", "")),
        )
    if is_cut(text) and line.startswith("{") and not line.endswith("}"):
        raise _cut(line, at)


def _object(line: str, at: int) -> dict[str, Any]:
    """A row. Raises `MeasuredError` where it is damaged."""
    if not line.endswith("}"):
        raise _cut(line, at)
    for text in (line, _NO_VALUE.sub(lambda found: found[1] or ":null", line)):
        try:
            found: dict[str, Any] = json.loads(text)
        except (ValueError, RecursionError):
            continue
        return found
    raise MeasuredError(
        f"line {at}: got '{line[:60]}', which is no JSON, expected a row of {FORMAT}"
    )


def _cut(line: str, at: int) -> MeasuredError:
    return MeasuredError(
        f"line {at}: got a row that ends in '{line[-40:]}', expected a whole row of {FORMAT}: the "
        "file is cut off or damaged"
    )


def _value(value: Any, event: str, at: int) -> str:
    """A number, why there is none (`<not counted>`), or nothing."""
    text = _text(value)
    absent = value is None or text == "" or text.startswith("<not ")
    if not absent and math.isnan(number(text)):
        raise MeasuredError(
            f"line {at}: got a count of {event[:60]} of '{text[:40]}', expected a number of 0 or "
            "more, or '<not counted>'"
        )
    return text


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else _digits(value)


def _digits(value: Any) -> str:
    return repr(value) if isinstance(value, float) or _is_count(value) else ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64


def _number(value: Any) -> float:
    return math.nan if value is None else number(_text(value))
