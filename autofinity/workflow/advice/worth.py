"""How much faster workloads were where a policy sent them, with how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.evaluation.bootstrap import intervals
from autofinity.evaluation.cases import Case
from autofinity.evaluation.times import geometric_mean
from autofinity.evaluation.under_rule import Fell

OS = "os"
SPREAD = "spread"


@dataclass(frozen=True, slots=True)
class Worth:
    """Time elsewhere over time as advised, above 1: faster. Geometric mean over cases."""

    value: float
    interval: tuple[float, float] | None
    """95 % by bootstrap over programs, where one program on several machines is resampled as
    a whole; None: too few programs.
    """
    cases: int
    programs: int


def worth_of(fell: Sequence[Fell], elsewhere: str) -> Worth | None:
    """Against a column of `Case.roi_s`; None where no case has it."""
    cases = [one.case for one in fell if elsewhere in one.case.roi_s]
    if not cases:
        return None

    def figures(drawn: Sequence[Case]) -> dict[str, float]:
        return {elsewhere: geometric_mean(case.against(elsewhere) for case in drawn)}

    programs = {case.workload.program for case in cases}
    interval = intervals(cases, figures).get(elsewhere)
    return Worth(figures(cases)[elsewhere], interval, len(cases), len(programs))


def with_os(fell: Sequence[Fell]) -> list[Fell]:
    """Those whose time under the operating system is known."""
    return [one for one in fell if OS in one.case.roi_s]


def by_program(fell: Sequence[Fell]) -> dict[str, list[Fell]]:
    """Cases of each program, in alphabetical order."""
    return {
        program: [one for one in fell if one.case.workload.program == program]
        for program in programs_of(fell)
    }


def programs_of(fell: Sequence[Fell]) -> list[str]:
    """Each once, in alphabetical order."""
    return sorted({one.case.workload.program for one in fell})
