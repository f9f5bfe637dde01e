"""`likwid-perfctr -o FILE.xml`: what likwid's filter `xml` makes of its CSV.

    <perfctr><name>CPU</name><group1><rawvalues>
        <event><name>…</name><counter>PMC0</counter><hwthread0>1234</hwthread0>…</event>…
    <group1><rawvalues>                             statistics: sums in the place of threads
        <event><name>… STAT</name>…
    </rawvalues><metrics>
        <metric><name>Runtime (RDTSC)</name><unit>s</unit><hwthread0>1.0</hwthread0>…</metric>…
    </rawvalues><metrics>…                          statistics again, without STAT in each name
    </perfctr>

Source: filters/xml of likwid 4.3 to 5.5. The filter looks for `Stat` where likwid writes `STAT`:
the statistics of several threads are in the file, and few tags are closed, so no parser of XML
reads it. This reader takes tag after tag: a group's second table of a kind holds statistics. Text
is not escaped. likwid 4.3 to 5.0.1 writes `<cpu0>`. The filter leaves marked regions out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from autofinity.measured.counts import Measured, MeasuredError
from autofinity.measured.likwid_tables import RUNTIME, Table, checked_cell, measured_of

FORMAT = "likwid-perfctr, XML"

_TAG = re.compile(r"<(?P<leaf>\w{1,40})>(?P<text>[^<]*+)</(?P=leaf)>|<(?P<tag>/?\w{1,40})>")
_CPU = re.compile(r"(?:hwthread|cpu)(\d{1,6})")
_GROUP = re.compile(r"group(\d{1,6})")
_ROWS = ("event", "metric")
_TABLES = ("rawvalues", "metrics")
_NO_EVENTS = ("STRUCT", "CPU name:", "CPU type:", "CPU clock:")
"""Lines between groups, which the filter takes for rows of the group before."""
_LONGEST_TEXT = 400
_LAST = "</perfctr>"
_MOST_CHARACTERS = 4 << 20
"""Ten times what 500 hardware threads fill, and read within some seconds."""


def is_likwid_xml(text: str) -> bool:
    """Whether it begins as the filter does."""
    return text.lstrip()[:1] == "<" and "<perfctr" in text[:65536]


def read_likwid_xml(text: str) -> Measured:
    """Raises `MeasuredError`."""
    if len(text) > _MOST_CHARACTERS:
        raise MeasuredError(f"got XML of more than {_MOST_CHARACTERS >> 20} MiB, expected a run's")
    text = text.strip()
    if not text.endswith(_LAST):
        raise MeasuredError(
            f"got XML without {_LAST} at its end, expected a whole file of likwid-perfctr"
        )
    groups = _Groups()
    for tag in _tags(text):
        groups.take(tag)
    return measured_of(FORMAT, groups.tables, groups.told)


class _Tag(NamedTuple):
    """`<name>text</name>`; or a tag alone, whose text is None and whose name may begin with `/`."""

    name: str
    text: str | None
    line: int


def _tags(text: str) -> Iterator[_Tag]:
    """Raises `MeasuredError` for what stands between them."""
    line, end = 1, 0
    for found in _TAG.finditer(text):
        between = text[end : found.start()]
        if stranger := between.strip():
            line += between[: between.index(stranger)].count("\n")
            raise MeasuredError(
                f"line {line}: got '{stranger[:40]}', expected likwid-perfctr's tags alone"
            )
        line += between.count("\n")
        leaf, end = found["leaf"], found.end()
        if leaf:
            yield _Tag(leaf, found["text"].strip()[:_LONGEST_TEXT], line)
            line += found["text"].count("\n")
        else:
            yield _Tag(found["tag"], None, line)


class _Groups:
    """Takes tag after tag, and keeps rows that are no statistics."""

    def __init__(self) -> None:
        self.tables: dict[tuple[str, str], Table] = {}
        self.told: tuple[str, ...] = ()
        self._group = ""
        self._kind = ""
        self._begun: set[tuple[str, str]] = set()
        self._is_statistics = False
        self._row: dict[str, _Tag] | None = None

    def take(self, tag: _Tag) -> None:
        """Raises `MeasuredError` for a row without its end, or with a cell that is no number."""
        if self._row is not None:
            self._take_in_row(tag, self._row)
        elif tag.name in _ROWS and tag.text is None:
            self._kind, self._row = tag.name, {}
        elif tag.name in _TABLES:
            self._is_statistics = (self._group, tag.name) in self._begun
            self._begun.add((self._group, tag.name))
        elif found := _GROUP.fullmatch(tag.name):
            self._group = found[1]
        elif tag.name == "name" and tag.text and not self.told:
            self.told = (f"measured on {tag.text}",)

    def _take_in_row(self, tag: _Tag, row: dict[str, _Tag]) -> None:
        if tag.text is not None:
            row.setdefault(tag.name, tag)
        elif tag.name == f"/{self._kind}":
            self._keep(row)
            self._row = None
        else:
            raise MeasuredError(
                f"line {tag.line}: got <{tag.name}>, expected likwid-perfctr's </{self._kind}>"
            )

    def _keep(self, row: dict[str, _Tag]) -> None:
        name, register = (row[key].text or "" if key in row else "" for key in ("name", "counter"))
        if self._is_statistics or name in _NO_EVENTS:
            return
        table = self.tables.setdefault(("", self._group), Table())
        if self._kind == "event" and name:
            table.add(name, register, _cells(name, row))
        elif name.lower().startswith(RUNTIME):
            table.timed(_cells(name, row))


def _cells(name: str, row: dict[str, _Tag]) -> dict[int, str]:
    return {
        int(found[1]): checked_cell(tag.text or "", name, f"line {tag.line}")
        for tag in row.values()
        if (found := _CPU.fullmatch(tag.name))
    }
