"""The answers of a policy: of the first rules, of a second look, and of a trial."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from two_looks import BETWEEN, two_looks

from autofinity.model.affinity import PACKED, SPREAD, Affinity, Hint
from autofinity.model.policy import Instead, OtherCounts, Trial
from autofinity.policy.answers import answers, last_answer

CORES = Affinity.parse("{4,4}{4,4}")
POLICY = replace(two_looks(), trial=Trial(BETWEEN, 1.01))


def seen(speeds: Mapping[Hint, float]) -> dict[Hint, dict[str, float]]:
    return {hint: {"instructions": speed} for hint, speed in speeds.items()}


@pytest.mark.parametrize(
    ("packed", "between", "hint", "looks"),
    [
        (1.2, 1.3, BETWEEN, 3),
        (1.2, 1.205, PACKED, 3),
        (0.9, 1.2, BETWEEN, 3),
        (0.9, 1.005, SPREAD, 3),
        (0.1, 1.2, BETWEEN, 3),
        (9.0, 9.5, BETWEEN, 3),
        (math.nan, 1.2, SPREAD, 2),
    ],
)
def test_a_hint_is_tried_after_both_looks_and_kept_where_it_is_faster(
    packed: float, between: float, hint: Hint, looks: int
) -> None:
    samples = seen({SPREAD: 1.0, PACKED: packed, BETWEEN: between})
    assert len(answers(POLICY, samples.__getitem__, 8, CORES)) == looks
    assert last_answer(POLICY, samples.__getitem__, 8, CORES) == hint


def test_no_trial_is_made_without_a_second_look() -> None:
    assert POLICY.second is not None
    final = replace(POLICY, second=replace(POLICY.second, after=(PACKED,)))
    assert len(answers(final, seen({SPREAD: 1.0}).__getitem__, 8, CORES)) == 1


def test_a_trial_is_compared_with_what_the_answer_means_for_this_many_threads() -> None:
    other = Hint.parse("SlP")
    policy = replace(POLICY, other_counts=OtherCounts(CORES, (Instead(PACKED, 4, 4, other),)))
    samples = seen({SPREAD: 1.0, PACKED: 1.2, BETWEEN: 1.3, other: 1.4})
    assert last_answer(policy, samples.__getitem__, 4, CORES) == other
    assert last_answer(policy, samples.__getitem__, 8, CORES) == BETWEEN
