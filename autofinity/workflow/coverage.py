"""Behaviours that the programs of a suite show on a machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autofinity.evaluation.coverage import ProgramCoverage, covered_by
from autofinity.learning.settings import LearningSettings
from autofinity.workflow.machine_events import settings_on
from autofinity.workflow.observations import hints_for, observations_of


@dataclass(frozen=True, slots=True)
class Covered:
    """The programs in the order of the paper's figure, and the counters that distinguish their
    behaviours.
    """

    counters: tuple[str, ...]
    programs: list[ProgramCoverage]

    @property
    def adding_nothing(self) -> list[str]:
        """Programs without which no behaviour would be lost."""
        return [each.program for each in self.programs if each.own == 0]


def coverage(
    machine: str,
    threads: int,
    settings: LearningSettings | None = None,
    observations: Path | None = None,
) -> Covered:
    """Coverage of the runs with `threads` threads in these observations, or in the shipped ones of
    the machine.

    The settings choose the counters and their cut points. Raises the errors of `observations_of`
    and `covered_by`.
    """
    table = observations_of(machine, threads, observations)
    settings = settings_on(settings or LearningSettings(), machine, table.counters)
    return Covered(*covered_by(table, settings, hints_for(table, machine, settings.leeway)))
