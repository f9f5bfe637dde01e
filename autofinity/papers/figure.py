"""A figure or table of a paper: what runs, what is drawn, and the paper's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from autofinity.report.chart import Chart
from autofinity.report.matrix_figure import Matrices


@dataclass(frozen=True, slots=True)
class Paper:
    """One of the five."""

    cited: str
    machine: str
    """The preset of the machine that most of its figures are of."""
    prefix: str = ""
    """Prefix of the names of its figures."""


type AnyFigure = Figure[Any, Any]


class Source(Protocol):
    """Where a figure's data come from."""

    @property
    def on(self) -> str:
        """The machine, and what else the figure's title says of where it is from."""
        ...


class Study[Asked: Source, Data](Protocol):
    """Content of a figure: what runs, and what is drawn of it."""

    def data(self, source: Asked) -> Data:
        """Data of all that runs."""
        ...

    def draw(self, figure: AnyFigure, data: Data, on: str) -> Chart | Matrices:
        """The figure of these data, from where `Source.on` says."""
        ...


@dataclass(frozen=True, slots=True)
class Figure[Asked: Source, Data]:
    """One figure, or table (`tN`), or a part of one (`9a-matrices`)."""

    paper: Paper
    number: str
    title: str
    section: str
    study: Study[Asked, Data]
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Numbers in the paper's text or tables: by series of the drawn chart, or by position if the
    chart has one series only. Empty where the paper has no numbers."""
    note: str = ""
    """Note beside the figure: how ours is to be read, and why it differs."""

    @property
    def name(self) -> str:
        """On the command line."""
        return f"{self.paper.prefix}{self.number}"

    @property
    def source(self) -> str:
        """Where it stands."""
        number, _, part = self.number.partition("-")
        what = f"table {number[1:]}" if number.startswith("t") else f"figure {number}"
        what += f", {part}" if part else ""
        return f"{self.paper.cited}, section {self.section}, {what}"

    def data(self, source: Asked) -> Data:
        """All that it needs, run or read."""
        return self.study.data(source)

    def draw(self, data: Data, on: str) -> Chart | Matrices:
        """The figure of these data, which are from `on`."""
        return self.study.draw(self, data, on)

    def drawn(self, source: Asked) -> Chart | Matrices:
        """From the programs to the picture."""
        return self.draw(self.data(source), source.on)
