"""`autofinity figure` for the mapping papers: what is run for each kind of study, and shown."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatchmethod
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.options.figure import show_chart
from autofinity.evaluation.paper_figures import PaperFigure
from autofinity.evaluation.paper_studies import (
    Bars,
    Exclusivity,
    ExclusivityShares,
    FaultRates,
    Matrices,
    OperationCosts,
    PageSizes,
    Phases,
    Quantities,
    SharingMetrics,
    SideBySide,
)
from autofinity.evaluation.watched_sharing import (
    SeenSharing,
    in_whole_trace,
    watched,
    watched_over_time,
)
from autofinity.mapping.eagermap import eagermap
from autofinity.mechanisms.registry import BASELINE, MECHANISMS
from autofinity.mechanisms.sharing_aware import added, nothing
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.profiling.placements import bound, compact_cpus
from autofinity.report import paper_charts
from autofinity.report.chart import Chart
from autofinity.report.matrix_figure import matrix_lines, save_matrices
from autofinity.workflow.backends import simulated
from autofinity.workflow.capture import capture
from autofinity.workflow.compare import BESIDE, Asked, compared
from autofinity.workflow.reporter import Reporter
from autofinity.workflow.wanted import Wanted

if TYPE_CHECKING:
    from autofinity.evaluation.comparison import MechanismCase
    from autofinity.model.placement import Placement
    from autofinity.ports import RunRequest
    from autofinity.sim.machine import SimMachine

LOOKS = 400
"""At a run that is shown in parts."""
OWN_INPUT = "own"
"""Size of the input that is a figure's own."""
SOURCES = {
    "kmaf14": "Diener et al., PACT 2014",
    "kmaf16": "Diener et al., TPDS 2016",
    "sammu": "Cruz et al., Euro-Par 2016",
    "tlb": "Cruz et al., CCPE 2014",
}


@dataclass(frozen=True, slots=True)
class Matrix:
    """A figure of sharing matrices by name."""

    title: str
    matrices: Mapping[str, SharingMatrix]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A captured program with its threads on PUs."""

    name: str
    where: tuple[SimMachine, RunRequest, Placement]

    def whole_trace(self, page_bytes: int | None = None) -> SeenSharing:
        """All that it does."""
        return in_whole_trace(*self.where, page_bytes)


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure, and what it is drawn from."""

    figure: PaperFigure
    asked: Asked
    reporter: Reporter

    @property
    def on(self) -> str:
        """Where it is from."""
        wanted = self.asked.wanted
        size = self.figure.own_input or wanted.size
        return f"{wanted.machine}, {self.asked.threads} threads, inputs: {size}"

    @singledispatchmethod
    def drawn(self, study: object) -> Chart | Matrix:
        """Run what the study needs, and draw it."""
        raise TypeError(f"no figure is made of {study!r}")

    @drawn.register
    def _(self, study: Bars) -> Chart:
        return paper_charts.bars(
            self.figure, study, self._cases((study.baseline, *study.mechanisms)), self.on
        )

    @drawn.register
    def _(self, study: Quantities) -> Chart:
        cases = self._cases((study.mechanism,))
        return paper_charts.quantities(self.figure, study, cases, self.on)

    @drawn.register
    def _(self, study: OperationCosts) -> Chart:
        cases = self._cases((study.mechanism,))
        return paper_charts.costs(self.figure, study, cases, self.on)

    @drawn.register
    def _(self, study: FaultRates) -> Chart:
        by_percent: dict[float, list[MechanismCase]] = {}
        for percent in study.percents:
            rate = percent / 100 / self.asked.paper_s
            mechanisms = (study.mechanism, study.oracle)[: 1 if by_percent else 2]
            by_percent[percent] = self._cases(mechanisms, fault_share_per_s=rate)
        return paper_charts.fault_rates(self.figure, study, by_percent, self.on)

    @drawn.register
    def _(self, study: PageSizes) -> Chart:
        by_size = {size: self._cases((study.mechanism,), page_size=size) for size in study.sizes}
        return paper_charts.page_sizes(self.figure, study, by_size, self.on)

    @drawn.register
    def _(self, study: SideBySide) -> Chart:
        alone = dict.fromkeys(program for pair in study.pairs for program in pair)
        programs = (*alone, *(BESIDE.join(pair) for pair in study.pairs))
        cases = self._cases(study.mechanisms, programs=programs, repeats=1)
        return paper_charts.side_by_side(self.figure, study, cases, self.on)

    @drawn.register
    def _(self, study: Matrices) -> Matrix:
        found = {}
        for program in self._placed():
            seen = program.whole_trace()
            if study.source != "trace":
                seen = watched(*program.where, study.source, seen)
            found[program.name] = seen.sharing
        return self._matrices(found)

    @drawn.register
    def _(self, study: Phases) -> Matrix:
        found = {}
        for program in self._placed():
            looks = watched_over_time(*program.where, study.source, LOOKS)
            for name, (begin, end) in study.parts.items():
                matrix = nothing(self.asked.threads)
                for progress, sharing in looks:
                    if begin < progress <= end:
                        matrix = added(matrix, sharing)
                found[name] = matrix
        return self._matrices(found)

    @drawn.register
    def _(self, study: Exclusivity) -> Chart:
        by_size = {size: self._pages(size) for size in study.page_bytes}
        return paper_charts.exclusivity(self.figure, by_size, self.on)

    @drawn.register
    def _(self, study: ExclusivityShares) -> Chart:
        return paper_charts.exclusivity_shares(self.figure, self._pages(4096), self.on)

    @drawn.register
    def _(self, study: SharingMetrics) -> Chart:
        found = {program.name: program.whole_trace().sharing for program in self._placed()}
        return paper_charts.sharing_metrics(self.figure, found, self.on)

    def _cases(
        self,
        mechanisms: Sequence[str],
        *,
        programs: tuple[str, ...] | None = None,
        page_size: str | None = None,
        repeats: int | None = None,
        fault_share_per_s: float | None = None,
    ) -> list[MechanismCase]:
        """Of the OS and these mechanisms, with what is said here in the place of what was asked.

        Fewer repeats stand for as much less of a paper's run.
        """
        wanted = self.asked.wanted
        names = dict.fromkeys((BASELINE, *mechanisms))
        asked = replace(
            self.asked,
            wanted=replace(
                wanted,
                programs=programs or wanted.programs,
                page_size=page_size or wanted.page_size,
            ),
            repeats=repeats or self.asked.repeats,
            paper_s=self.asked.paper_s * (repeats or self.asked.repeats) / self.asked.repeats,
            fault_share_per_s=(
                self.asked.fault_share_per_s if fault_share_per_s is None else fault_share_per_s
            ),
        )
        cases = compared(asked, [MECHANISMS[name] for name in names], self.reporter)
        for case in cases:
            if case.run is None:
                click.echo(f"left out: {case.program}, {case.mechanism}: {case.reason}", err=True)
        return cases

    def _placed(self) -> list[_Placed]:
        """Programs with threads that share together, as the papers' traces were looked at."""
        wanted = self.asked.wanted
        machine = simulated(wanted.machine, wanted.latencies, reporter=self.reporter)
        topology = machine.topology
        by_id = bound(compact_cpus(topology, self.asked.threads))
        found = []
        for program in capture(wanted, self.asked.threads, self.reporter):
            sharing = in_whole_trace(machine, program.request, by_id).sharing
            cpus = eagermap(sharing, topology, topology.allowed)
            found.append(_Placed(program.name, (machine, program.request, bound(cpus))))
        return found

    def _pages(self, page_bytes: int) -> dict[str, NumaVectors]:
        return {program.name: program.whole_trace(page_bytes).pages for program in self._placed()}

    def _matrices(self, found: Mapping[str, SharingMatrix]) -> Matrix:
        return Matrix(f"{self.figure.title}, {self.on}", found)


def with_own_input(figure: PaperFigure, wanted: Wanted) -> Wanted:
    """What is asked for, with the figure's own input where it has one."""
    if not figure.own_input:
        return wanted
    suite = wanted.suite
    programs = {
        name: replace(suite.programs[name], inputs={OWN_INPUT: figure.own_input})
        for name in figure.programs
    }
    return replace(wanted, suite=replace(suite, programs=programs), size=OWN_INPUT)


def draw(
    figure: PaperFigure, asked: Asked, output: Path | None, as_json: bool, reporter: Reporter
) -> None:
    """Onto the terminal, into the file, or as one JSON document."""
    drawn = Drawing(figure, asked, reporter).drawn(figure.study)
    paper, _, number = figure.name.partition("-")
    what = f"table {number[1:]}" if number.startswith("t") else f"figure {number}"
    source = f"{SOURCES[paper]}, section {figure.section}, {what}"
    if as_json:
        click.echo(json.dumps({"figure": figure.name, "source": source, **_document(drawn)}))
    elif isinstance(drawn, Chart):
        show_chart(drawn, output)
    elif output is not None:
        save_matrices(drawn.matrices, drawn.title, output)
        click.echo(f"{drawn.title}: kept in {output}", err=True)
    else:
        click.echo("\n".join([drawn.title, *matrix_lines(drawn.matrices)]))
    if not as_json:
        click.echo(f"{source}; why ours differ: docs/mechanisms.md", err=output is not None)


def _document(drawn: Chart | Matrix) -> Mapping[str, object]:
    if isinstance(drawn, Matrix):
        return {
            "title": drawn.title,
            "matrices": {name: matrix.cells for name, matrix in drawn.matrices.items()},
        }
    return {
        "title": drawn.title,
        "unit": drawn.y_label,
        "series": {
            name: dict(zip(drawn.positions, map(_known, values), strict=True))
            for name, values in drawn.series.items()
        },
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
