"""Leave one program out: train on all others, judge on it (paper, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """One program, its observations, and those of all other programs."""

    program: str
    training: ObservationTable
    test: ObservationTable


def leave_one_program_out(table: ObservationTable) -> Iterator[Split]:
    """One split a program, by name; all inputs and thread counts of a program leave together.

    Raises `LearningError` when there are fewer than two programs.
    """
    programs = table.programs()
    if len(programs) < 2:
        raise LearningError(
            f"cannot leave one program out of {len(programs)} ({', '.join(programs) or 'none'}); "
            "profile at least two"
        )
    for program in programs:
        yield Split(program, table.without_program(program), table.of_program(program))
