"""Learning's steps one by one give what `train` makes of the same observations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from few_observations import FEW_ON

from autofinity.learning.action_frame import bins_of, cut_points_of
from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import LearningError, StoreError, UsageError
from autofinity.workflow.learning_steps import action_table, chosen_counters, cut_counters
from autofinity.workflow.train import rules_of_observations

SETTINGS = LearningSettings(probe="none", other_counts=False)


def test_the_counters_chosen_are_cut_and_tabulated_and_the_policys_own(observations: Path) -> None:
    chosen = chosen_counters(observations, SETTINGS).report.chosen
    cuts = cut_counters(observations, SETTINGS).cut_points
    known = action_table(observations, SETTINGS)
    policy, _ = rules_of_observations(observations, SETTINGS)
    assert tuple(cuts) == chosen
    assert cut_points_of(known.table) == cuts == dict(policy.cut_points)
    assert known.provenance["machine"] == FEW_ON


def test_a_bin_holds_the_behaviours_that_the_action_table_has_in_it(observations: Path) -> None:
    held = cut_counters(observations, SETTINGS).behaviours
    known = action_table(observations, SETTINGS)
    for counts, bins in zip(held.values(), bins_of(known.table).T, strict=True):
        assert {i for i, count in enumerate(counts) if count} == set(bins.tolist())


@pytest.mark.parametrize("step", [chosen_counters, cut_counters, action_table])
def test_wrong_arguments_are_told_in_our_words(
    step: Callable[..., object], observations: Path, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match="no observations at"):
        step(tmp_path / "none", SETTINGS)
    with pytest.raises(UsageError, match=r"unknown machine .pdp-11."):
        step(observations, SETTINGS, machine="pdp-11")
    named = LearningSettings(counters=("no_such",))
    with pytest.raises(LearningError, match="no_such"):
        step(observations, named)
