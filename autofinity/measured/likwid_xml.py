"""`likwid-perfctr -o FILE.xml`: what likwid's filter `xml` makes of its CSV.

    <perfctr><group1><rawvalues><event><name>…</name><counter>PMC0</counter>
        <hwthread0>1234</hwthread0>…</event>…</rawvalues>
        <metrics><metric><name>Runtime (RDTSC)</name><unit>s</unit><hwthread0>1.0</hwthread0>…

Source: filters/xml. likwid 4 writes `<core0>`. For a single hardware thread the filter leaves
the group open, which is an error of the XML only at the last tag.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from autofinity.measured.counts import Measured, MeasuredError
from autofinity.measured.likwid_tables import RUNTIME, Table, checked_cell, measured_of

FORMAT = "likwid-perfctr, XML"

_CPU = re.compile(r"(?:hwthread|core)(\d{1,6})")
_GROUP = re.compile(r"group(\d{1,6})")
_LONGEST_TEXT = 400
_LAST = "</perfctr>"
_MOST_CHARACTERS = 4 << 20
"""Ten times what 500 hardware threads fill; the parser remembers all that is open."""


def is_likwid_xml(text: str) -> bool:
    """Whether it begins as the filter does."""
    return text.lstrip()[:1] == "<" and "<perfctr" in text[:65536]


def read_likwid_xml(text: str) -> Measured:
    """Raises `MeasuredError`."""
    if len(text) > _MOST_CHARACTERS:
        raise MeasuredError(f"got XML of more than {_MOST_CHARACTERS >> 20} MiB, expected a run's")
    if "<!" in text:
        raise MeasuredError("got XML with declarations (<!…), expected none: likwid writes none")
    parser = expat.ParserCreate()
    groups = _Groups(parser)
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        last = text.rstrip()
        at_last = isinstance(error, expat.ExpatError) and error.lineno > last.count("\n")
        if not (at_last and last.endswith(_LAST) and groups.tables):
            raise MeasuredError(
                f"got XML that cannot be read ({error}), expected a whole file of likwid-perfctr"
            ) from None
    return measured_of(FORMAT, groups.tables)


class _Groups:
    """Takes events as they come, and keeps no tree."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.tables: dict[tuple[str, str], Table] = {}
        self._parser = parser
        self._group = ""
        self._texts: dict[str, str] | None = None
        self._places: dict[str, str] = {}
        self._text = ""
        parser.StartElementHandler = self.start
        parser.CharacterDataHandler = self.data
        parser.EndElementHandler = self.end

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        del attributes
        self._text = ""
        if found := _GROUP.fullmatch(tag):
            self._group = found[1]
        elif tag in ("event", "metric"):
            self._texts, self._places = {}, {}
        elif self._texts is not None:
            line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
            self._places.setdefault(tag, f"line {line}, column {column}")

    def data(self, text: str) -> None:
        """Text, or a part of one."""
        if len(self._text) < _LONGEST_TEXT:
            self._text += text[:_LONGEST_TEXT]

    def end(self, tag: str) -> None:
        """An element is complete."""
        if self._texts is None:
            return
        if tag in ("event", "metric"):
            self._take(tag, self._texts)
            self._texts = None
        else:
            self._texts.setdefault(tag, self._text.strip())

    def _take(self, kind: str, texts: dict[str, str]) -> None:
        name = texts.get("name", "")
        table = self.tables.setdefault(("", self._group), Table())
        if kind == "event" and name:
            table.add(name, texts.get("counter", ""), self._cells(name, texts))
        elif name.lower().startswith(RUNTIME):
            table.timed(self._cells(name, texts))

    def _cells(self, name: str, texts: dict[str, str]) -> dict[int, str]:
        return {
            int(found[1]): checked_cell(text, name, self._places[tag])
            for tag, text in texts.items()
            if (found := _CPU.fullmatch(tag))
        }
