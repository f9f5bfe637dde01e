"""`perf c2c report --stdio`: the table of statistics that it begins with.

Source: tools/perf/builtin-c2c.c, print_c2c_info. The tables of cache lines below it say which
lines are shared, not how often a program asks for them: they are passed over.
"""

from __future__ import annotations

import re

from autofinity.measured.counts import Count, Measured, MeasuredError
from autofinity.measured.lines import is_cut, lines_of

FORMAT = "perf c2c report"
TITLE = "Trace Event Information"

_LINE = re.compile(r"\s{0,8}([A-Z][A-Za-z0-9 /()\-]{2,60}?)\s{0,40}:\s{0,40}(\d{1,18})")
_NEEDED = (
    "Load LLC hit",
    "Load Local HITM",
    "Load Remote HITM",
    "Load Remote HIT",
    "Load Local DRAM",
    "Load Remote DRAM",
)
_ALSO = ("Load Operations", "Store Operations", "Total records")


def read_perf_c2c(text: str) -> Measured:
    """Raises `MeasuredError`."""
    found = _statistics(text)
    missing = [label for label in _NEEDED if label not in found]
    if missing:
        raise MeasuredError(
            f"got {FORMAT} without {', '.join(missing)}, expected its table {TITLE!r} whole: "
            "`perf c2c report --stdio > FILE`"
        )
    hits, local_changed, changed, clean, local, remote = (found[label] for label in _NEEDED)
    misses = changed + clean + local + remote
    if not hits + misses:
        raise MeasuredError(
            "got no load that left its core, expected some: record for longer, with "
            "`perf c2c record -- PROGRAM`"
        )
    counts = {
        "llc_requests": hits + misses,  # hits have the local HITM among them
        "llc_misses": misses,
        "cache_to_cache_transfers_other_llc": changed + clean,
        "dram_reads_local": local,
        "dram_reads_remote": remote,
    }
    told = ", ".join(f"{label} {found[label]}" for label in _ALSO if label in found)
    return Measured(
        FORMAT,
        {name: Count(float(count)) for name, count in counts.items()},
        shows=tuple(
            line
            for line in (
                told,
                f"HITM in the own LLC domain {local_changed}, in others {changed}",
            )
            if line
        ),
    )


def _statistics(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    begun, line = False, ""
    for line in lines_of(text):
        if TITLE in line:
            begun = True
        elif begun and "Information" in line:
            break
        elif begun and (match := _LINE.fullmatch(line.rstrip()[:200])):
            found.setdefault(match[1], int(match[2]))
    else:
        if is_cut(text) and _LINE.fullmatch(line):
            raise MeasuredError(
                f"got {FORMAT} that ends in '{line.strip()}' without an end of the line, expected "
                f"its table {TITLE!r} whole: the file is cut off"
            )
    return found
