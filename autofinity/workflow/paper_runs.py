"""Runs for figures of mechanisms, made by `compare` and `capture`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autofinity.evaluation.comparison import shown
from autofinity.mechanisms.registry import BASELINE, MECHANISMS
from autofinity.reporter import SILENT, Reporter
from autofinity.workflow.backends import simulated
from autofinity.workflow.capture import capture
from autofinity.workflow.compare import Asked, compared
from autofinity.workflow.wanted import Wanted

if TYPE_CHECKING:
    from autofinity.evaluation.comparison import MechanismCase
    from autofinity.papers.mechanism_figure import MechanismFigure
    from autofinity.profiling.campaign import ReadyProgram
    from autofinity.sim.machine import SimMachine

OWN_INPUT = "own"
"""Name of the size of a figure's own input."""


@dataclass(frozen=True, slots=True)
class PaperRuns:
    """The `Runs` of `papers.mechanism_figure`. Raises the errors of `compared` and `capture`."""

    asked: Asked
    inputs: str
    """Inputs as titles name them."""
    reporter: Reporter = SILENT

    @property
    def on(self) -> str:
        """Text with machine, threads and inputs."""
        return f"{self.asked.wanted.machine}, {self.threads} threads, inputs: {self.inputs}"

    @property
    def threads(self) -> int:
        """Number of threads of each program."""
        return self.asked.threads

    @property
    def names(self) -> Sequence[str]:
        """Names of the programs: all of the suite where none is named."""
        wanted = self.asked.wanted
        return wanted.programs or tuple(wanted.suite.programs)

    def machine(self) -> SimMachine:
        """The requested machine."""
        return simulated(self.asked.wanted.machine, self.asked.wanted.latencies)

    def programs(self) -> Sequence[ReadyProgram]:
        """The programs, captured now or before."""
        return capture(self.asked.wanted, self.threads, self.reporter)

    def cases(
        self,
        mechanisms: Sequence[str],
        *,
        programs: tuple[str, ...] = (),
        page_size: str | None = None,
        repeats: int | None = None,
        faults_per_page: float | None = None,
    ) -> list[MechanismCase]:
        """Cases of a comparison, as long as the runs that they stand for where regions are
        repeated; a notice gives the reason for each failed run.
        """
        asked, wanted = self.asked, self.asked.wanted
        here = replace(
            asked,
            wanted=replace(
                wanted,
                programs=programs or wanted.programs,
                page_size=page_size or wanted.page_size,
            ),
            repeats=repeats or asked.repeats,
            paper_s=asked.paper_s * (repeats or asked.repeats) / asked.repeats,
            faults_per_page=asked.faults_per_page if faults_per_page is None else faults_per_page,
        )
        names = dict.fromkeys((BASELINE, *mechanisms))
        cases = compared(here, [MECHANISMS[name] for name in names], self.reporter)
        for case in cases:
            if case.run is None:
                self.reporter.notice(f"left out: {case.program}, {case.mechanism}: {case.reason}")
        return shown(cases)


def with_own_input(figure: MechanismFigure[object], wanted: Wanted) -> Wanted:
    """The request, with the figure's own input where it has one."""
    if not figure.own_input:
        return wanted
    suite = wanted.suite
    programs = {
        name: replace(suite.programs[name], inputs={OWN_INPUT: figure.own_input})
        for name in figure.programs
    }
    return replace(wanted, suite=replace(suite, programs=programs), sizes=(OWN_INPUT,))
