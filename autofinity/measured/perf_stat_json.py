"""`perf stat -j`: a JSON object a line.

Since Linux 5.19; source: tools/perf/util/stat-display.c. `counter-value` is a text
(`"1234.000000"`, `"<not counted>"`); before it may stand `interval`, and `cpu`, `core`, `socket`,
`node` or `thread`; after it what perf makes of it, which nothing here hangs on. Lines of metrics
(no `counter-value`), comments and what the program itself wrote are passed over.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from autofinity.measured.counts import Measured, number
from autofinity.measured.lines import lines_of
from autofinity.measured.perf_rows import Row, measured_of

FORMAT = "perf stat -j"


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
    for line in lines_of(text):
        line = line.strip()
        if not line.startswith("{") or '"counter-value"' not in line:
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue  # some versions leave a value out where nothing was counted
        event = found.get("event")
        if not isinstance(event, str) or not event:
            continue
        yield Row(
            event,
            _text(found["counter-value"]) if "counter-value" in found else "",
            _number(found.get("event-runtime")),
            _number(found.get("pcnt-running")),
            interval="interval" in found,
            thread=_text(found.get("thread", "")),
        )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else _digits(value)


def _digits(value: Any) -> str:
    return repr(value) if isinstance(value, float) or _is_count(value) else ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64


def _number(value: Any) -> float:
    return math.nan if value is None else number(_text(value))
