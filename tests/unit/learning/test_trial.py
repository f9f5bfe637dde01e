"""A trial of a hint between packed and spread is learned where it gains anything."""

from dataclasses import replace

import numpy as np
import pytest
from observed import observation
from two_looks import BETWEEN, two_looks

from autofinity.learning.discretiser import Discretiser
from autofinity.learning.second_look import Seen
from autofinity.learning.trial import with_trial
from autofinity.model.affinity import HINTS, PACKED, SPREAD, Hint
from autofinity.model.counters import Behaviour
from autofinity.model.ratios import SPEED_GAIN
from autofinity.store.observations import table_of

POLICY = two_looks(Hint.parse("slP"))


def seen(speedups: list[float]) -> Seen:
    """One sample of each workload, with this speedup in the second look."""
    rows = [
        observation(program=f"p{n:02}", behaviour=Behaviour({SPEED_GAIN: speedup}))
        for n, speedup in enumerate(speedups)
    ]
    return Seen(table_of(rows), np.arange(len(speedups)), Discretiser())


def losses(speedups: list[float], between: list[float]) -> np.ndarray:
    """Logarithms of the loss of each hint, if `between` is the speed of the hint between."""
    table = np.full((len(speedups), len(HINTS)), 9.0)
    table[:, HINTS.index(SPREAD)] = 0.0
    table[:, HINTS.index(PACKED)] = -np.log(speedups)
    table[:, HINTS.index(BETWEEN)] = -np.log(between)
    return table - table.min(axis=1, keepdims=True)


SPEEDUPS = [0.2, 0.5, 0.9, 1.0, 1.2, 2.0, 5.0]
GAINS_BETWEEN = [0.4, 0.7, 1.1, 1.1, 1.3, 1.5, 2.0]


def test_the_trial_is_of_the_hint_that_is_asked_for() -> None:
    policy = with_trial(POLICY, seen(SPEEDUPS), losses(SPEEDUPS, GAINS_BETWEEN), "sLP")
    assert policy.trial is not None
    assert policy.trial.hint == BETWEEN
    assert policy.trial.faster > 1


def test_one_workload_that_gains_is_enough() -> None:
    """A program unlike all others may gain as well, and the trial costs little."""
    between = [*(max(1.0, speedup) for speedup in SPEEDUPS[:-1]), 6.0]
    assert with_trial(POLICY, seen(SPEEDUPS), losses(SPEEDUPS, between), "sLP").trial is not None


def test_a_trial_that_never_gains_is_not_learned() -> None:
    never = [0.9 * max(1.0, speedup) for speedup in SPEEDUPS]
    assert with_trial(POLICY, seen(SPEEDUPS), losses(SPEEDUPS, never), "sLP").trial is None


@pytest.mark.parametrize("hint", ["none", "slP"])
def test_no_trial_is_learned_unless_asked_for_or_in_the_affinity_of_the_second_look(
    hint: str,
) -> None:
    made = losses(SPEEDUPS, GAINS_BETWEEN)
    assert with_trial(POLICY, seen(SPEEDUPS), made, hint) == POLICY  # type: ignore[arg-type]


def test_a_policy_that_counts_no_instructions_has_no_trial() -> None:
    blind = replace(POLICY, counters=("cycles",))
    made = losses(SPEEDUPS, GAINS_BETWEEN)
    assert with_trial(blind, seen(SPEEDUPS), made, "sLP") == blind


def test_workloads_that_were_not_profiled_in_the_hint_teach_nothing() -> None:
    made = losses(SPEEDUPS, GAINS_BETWEEN)
    made[:, HINTS.index(BETWEEN)] = np.nan
    assert with_trial(POLICY, seen(SPEEDUPS), made, "sLP").trial is None
