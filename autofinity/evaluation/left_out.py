"""Leave one program out: learn from all others, to be judged on it (paper, section 3)."""

from __future__ import annotations

from collections.abc import Callable

from autofinity.evaluation.judge import Learn
from autofinity.model.errors import LearningError
from autofinity.model.policy import RulePolicy
from autofinity.store.observation_table import ObservationTable


def leaving_out(table: ObservationTable, learn: Callable[[ObservationTable], RulePolicy]) -> Learn:
    """A learner that has never seen the program it is asked about, at any input or thread count.

    What it returns raises `LearningError` when the table has no other program.
    """

    def without(program: str) -> RulePolicy:
        others = table.without_program(program)
        if not len(others):
            raise LearningError(
                f"nothing is left to learn from without {program}; profile at least two programs"
            )
        return learn(others)

    return without
