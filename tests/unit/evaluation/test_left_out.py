"""A policy is judged on a program that it was not learned from."""

from __future__ import annotations

import pytest
from observed import observation

from autofinity.evaluation.left_out import leaving_out
from autofinity.model.affinity import PACKED
from autofinity.model.errors import LearningError
from autofinity.model.observation import Observation
from autofinity.model.policy import RulePolicy
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import table_of

POLICY = RulePolicy((), {}, (), PACKED)


def rows(program: str, threads: int = 2) -> Observation:
    return observation(program=program, threads=threads)


def test_each_program_leaves_with_all_its_inputs_and_thread_counts() -> None:
    seen: list[tuple[str, ...]] = []

    def learn(others: ObservationTable) -> RulePolicy:
        seen.append(others.programs())
        return POLICY

    table = table_of([rows("a"), rows("b"), rows("b", threads=4), rows("c")])
    without = leaving_out(table, learn)
    assert [without(program) for program in "abc"] == [POLICY] * 3
    assert seen == [("b", "c"), ("a", "c"), ("a", "b")]


def test_one_program_alone_leaves_nothing_to_learn_from() -> None:
    without = leaving_out(table_of([rows("a")]), lambda others: POLICY)
    with pytest.raises(LearningError, match="without a; profile at least two"):
        without("a")
    assert without("b") == POLICY
