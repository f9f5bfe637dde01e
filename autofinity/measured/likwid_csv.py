"""`likwid-perfctr -o FILE.csv` (or `-O`).

Source: src/applications/likwid.lua, printOutput, and docs of likwid 4 and 5:

    STRUCT,Info,3                                    CPU name, type and clock follow
    TABLE,Group 1 Raw,MEM,15                         with markers TABLE,Region NAME,Group 1 Raw,…
    Region Info,HWThread 0,HWThread 1                with markers: run time, calls
    Event,Counter,HWThread 0,HWThread 1              `Core 0` in likwid 4
    INSTR_RETIRED_ANY,FIXC0,1234,-
    TABLE,Group 1 Raw STAT,…                         sums of the same, passed over
    TABLE,Group 1 Metric,…                           of which the run time is taken
"""

from __future__ import annotations

import csv
import re

from autofinity.measured.counts import MOST_THREADS, Measured, MeasuredError
from autofinity.measured.likwid_tables import RUNTIME, Table, checked_cell, measured_of
from autofinity.measured.lines import is_cut, lines_of

FORMAT = "likwid-perfctr, CSV"

_TITLE = re.compile(
    r"TABLE,(?:Region (?P<region>[^,]{1,200}),)?Group (?P<group>\d{1,6}) "
    r"(?P<kind>Raw|Metric)(?P<stat> ?(?:STAT|Stat))?,.*"
)
_CPU = re.compile(r"(?:HWThread|Core|core) (\d{1,6})")
_MOST_TABLES = 4096


def is_likwid_csv(text: str) -> bool:
    """Whether some line is the title of a table."""
    return any(_TITLE.fullmatch(line) for line in lines_of(text) if line.startswith("TABLE,"))


def read_likwid_csv(text: str) -> Measured:
    """Raises `MeasuredError`."""
    tables: dict[tuple[str, str], Table] = {}
    here: Table | None = None
    cpus: list[int] = []
    raw, told, at, line = False, "", 0, ""
    for at, line in enumerate(lines_of(text), 1):
        if line.startswith("TABLE,"):
            title = _TITLE.fullmatch(line)
            here, cpus = None, []
            if title and not title["stat"]:
                raw = title["kind"] == "Raw"
                key = (title["region"] or "", title["group"])
                here = tables.setdefault(key, Table())
                if len(tables) > _MOST_TABLES:
                    raise MeasuredError(f"got more than {_MOST_TABLES} tables, expected a few")
            continue
        if line.startswith("STRUCT,"):
            here = None
        if line.startswith("CPU name:") and not told:
            told = f"measured on {_cells(line)[1]}" if "," in line else ""
        if here is None:
            continue
        cells = _cells(line)
        head = cells[0]
        if head in ("Event", "Metric", "Region Info"):
            cpus = _heading(cells[2:] if head == "Event" else cells[1:])
        elif head == "RDTSC Runtime [s]" or (not raw and head.lower().startswith(RUNTIME)):
            here.timed(_row(cells, 1, cpus, at))
        elif raw and cpus and len(cells) > 2 and head and head != "call count":
            here.add(head, cells[1], _row(cells, 2, cpus, at))
    if here is not None and raw and is_cut(text):
        raise MeasuredError(
            f"line {at}: got '{line[-40:]}' without its end, expected a whole table: the file is "
            "cut off"
        )
    return measured_of(FORMAT, tables, (told,) if told else ())


def _row(cells: list[str], first: int, cpus: list[int], at: int) -> dict[int, str]:
    """Cells of the hardware threads, which begin at index `first`; `at` is the number of the line.

    Raises `MeasuredError` for too few of them, and for what is no number.
    """
    if len(cells) < first + len(cpus):
        raise MeasuredError(
            f"line {at}: got {len(cells)} cells, expected {first + len(cpus)} as in the heading"
        )
    return {
        cpu: checked_cell(cells[index], cells[0], f"line {at}, column {index + 1}")
        for index, cpu in enumerate(cpus, first)
    }


def _cells(line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])] or [""]
    except csv.Error:
        return [""]


def _heading(cells: list[str]) -> list[int]:
    found = [int(match[1]) for cell in cells if (match := _CPU.fullmatch(cell))]
    if len(found) > MOST_THREADS:
        raise MeasuredError(f"got more than {MOST_THREADS} columns, expected one for each CPU")
    return found
