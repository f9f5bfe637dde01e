"""Leave one program out: learn from all others, for a test on that program (paper, section 3)."""

from __future__ import annotations

from collections.abc import Callable

from autofinity.evaluation.judge import Learn
from autofinity.learning.held_out import held_out
from autofinity.model.errors import LearningError
from autofinity.model.policy import RulePolicy
from autofinity.store.observation_table import ObservationTable


def leaving_out(table: ObservationTable, learn: Callable[[ObservationTable], RulePolicy]) -> Learn:
    """A learner that has never seen the program in question, at any input or thread count.

    The learner raises `LearningError` when the table has no other program.
    """
    rest = dict(zip(table.programs(), held_out(table.program.codes), strict=True))

    def without(program: str) -> RulePolicy:
        others = table.take(rest[program][0]) if program in rest else table
        if not len(others):
            raise LearningError(
                f"nothing is left to learn from without {program}; profile at least two programs"
            )
        return learn(others)

    return without
