"""Which format a file has, by its content: its name says nothing.

file or standard input ─► text ─► the first reader that knows it ─► Measured
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from autofinity.foreign_text import one_line
from autofinity.given_file import read_at_most, read_given
from autofinity.measured import own_table, perf_c2c
from autofinity.measured.counts import Measured, MeasuredError
from autofinity.measured.likwid_csv import is_likwid_csv, read_likwid_csv
from autofinity.measured.likwid_xml import is_likwid_xml, read_likwid_xml
from autofinity.measured.perf_script import (
    COMMAND,
    has_no_sources,
    is_perf_script,
    read_perf_script,
)
from autofinity.measured.perf_stat_csv import read_perf_stat_csv, separator_of
from autofinity.measured.perf_stat_json import is_perf_stat_json, read_perf_stat_json
from autofinity.model.errors import MeasurementError

LARGEST_BYTES = 64 << 20
"""Half a million samples of `perf script`."""
STDIN = Path("-")

_EXPECTED = (
    "output of `perf stat -j`, `perf stat -x,`, `perf script` of memory samples, `perf c2c report "
    "--stdio`, `likwid-perfctr -o FILE.csv` (or .xml), or a table with autofinity's names of "
    "counters (docs/advise.md)"
)
_KNOWN_STRANGERS = (
    (
        "PERFILE2",
        "a recording of perf",
        f"what perf says of it: `{COMMAND} -i FILE > TEXT`, or `perf c2c report --stdio -i FILE`",
    ),
    (
        "Performance counter stats for",
        "what perf stat prints for people",
        "what it writes for programs: `perf stat -j -o FILE …` (or -x,)",
    ),
    (
        "+-----",
        "a table for people",
        "`likwid-perfctr -o FILE.csv …`, or one of the formats of docs/advise.md",
    ),
)
"""Text among the first characters of a file, its format, the expected file instead."""
_FIRST = 20_000


def read_measured(path: Path, known: Collection[str]) -> Measured:
    """Measurements in `path` (`-`: standard input); `known` are autofinity's names of counters.

    Raises `MeasurementError`, which names the file: it cannot be read, is too large, has none of
    the formats, or is damaged.
    """
    name = "standard input" if path == STDIN else str(path)
    try:
        given = path != STDIN
        data = read_given(path, LARGEST_BYTES) if given else read_at_most(0, LARGEST_BYTES, path)
    except OSError as error:
        raise MeasurementError(
            f"{name}: cannot be read: {error.strerror}; expected {_EXPECTED}"
        ) from None
    # Names of programs and events need not be UTF-8.
    text = data.decode("utf-8-sig", errors="surrogateescape")
    try:
        return _read(text, known)
    except MeasuredError as wrong:
        raise MeasurementError(f"{name}: {one_line(str(wrong))}") from None


def _read(text: str, known: Collection[str]) -> Measured:
    start = text.lstrip()[:1]
    if not start:
        raise MeasuredError(f"got nothing, expected {_EXPECTED}")
    if is_likwid_xml(text):
        return read_likwid_xml(text)
    if perf_c2c.TITLE in text:
        return perf_c2c.read_perf_c2c(text)
    if is_likwid_csv(text):
        return read_likwid_csv(text)
    if is_perf_stat_json(text):
        return read_perf_stat_json(text)
    if start in "{[":
        return own_table.read_own_json(text, known)
    if is_perf_script(text):
        return read_perf_script(text)
    if has_no_sources(text):
        raise MeasuredError(
            "got samples of perf script without data_src, which says what answered each load; "
            f"expected `{COMMAND} -i FILE > TEXT` of a recording by `perf c2c record -- PROGRAM`"
        )
    if own_table.is_own_csv(text, known):
        return own_table.read_own_csv(text, known)
    if separator_of(text):
        return read_perf_stat_csv(text)
    raise MeasuredError(_stranger(text))


def _stranger(text: str) -> str:
    for sign, what, instead in _KNOWN_STRANGERS:
        if sign in text[:_FIRST]:
            return f"got {what}, expected {instead}"
    first = text.lstrip()[:40].partition("\n")[0]
    return f"got '{first}', expected {_EXPECTED}"
