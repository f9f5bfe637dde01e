"""Time of each program under each mechanism over that under the operating system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.evaluation.comparison import MechanismCase
from autofinity.mechanisms.registry import BASELINE


@dataclass(frozen=True, slots=True)
class ProgramRatio:
    """Time of a program under a mechanism over that under the operating system."""

    value: float
    low: float
    high: float
    """Range over seeds of the mechanism, each against the mean of the operating system."""
    seeds: int


def program_ratios(
    cases: Sequence[MechanismCase],
) -> dict[str, dict[str, ProgramRatio]]:
    """Mechanism → program → ratio, of those that ran under the operating system, too."""
    times: dict[str, dict[str, list[float]]] = {}
    for case in cases:
        if case.run is not None:
            of = times.setdefault(case.mechanism, {})
            of.setdefault(case.program, []).append(case.run.time_s)
    base = {name: sum(some) / len(some) for name, some in times.get(BASELINE, {}).items()}
    return {
        mechanism: {
            program: ProgramRatio(
                sum(some) / len(some) / base[program],
                min(some) / base[program],
                max(some) / base[program],
                len(some),
            )
            for program, some in own.items()
            if program in base
        }
        for mechanism, own in times.items()
    }


def most_changed(cases: Sequence[MechanismCase]) -> dict[str, MechanismCase]:
    """Mechanism → its case of the program whose time it changes most, with the first seed."""
    found = {}
    for mechanism, of in program_ratios(cases).items():
        if of:
            program = max(of, key=lambda name: abs(math.log(of[name].value)))
            own = (each for each in cases if (each.mechanism, each.program) == (mechanism, program))
            found[mechanism] = next(each for each in own if each.run is not None)
    return found
