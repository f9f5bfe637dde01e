"""Learning's steps one by one give what `train` makes of the same observations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autofinity.learning.action_frame import bins_of, cut_points_of
from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import LearningError, StoreError, UsageError
from autofinity.store.observations import write_one
from autofinity.workflow.learning_steps import choose_counters, cut_counters, tabulate_actions
from autofinity.workflow.observations import observations_of
from autofinity.workflow.train import rules_of_observations

MACHINE = "xeon-e5-2650"
PROGRAMS = ("cg", "lu", "md", "pic", "stencil")
SETTINGS = LearningSettings(probe="none", other_counts=False)


@pytest.fixture(scope="module")
def observations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of five programs with eight threads, on a machine that is shipped."""
    table = observations_of(MACHINE)
    file = tmp_path_factory.mktemp("observed") / "few.parquet"
    write_one(table.take(np.isin(table.program.text(), PROGRAMS)), file, packed=False)
    return file


def test_the_counters_chosen_are_cut_and_tabulated_and_the_policys_own(observations: Path) -> None:
    chosen = choose_counters(observations, SETTINGS).report.chosen
    cuts = cut_counters(observations, SETTINGS).cut_points
    known = tabulate_actions(observations, SETTINGS)
    policy, _ = rules_of_observations(observations, SETTINGS)
    assert tuple(cuts) == chosen
    assert cut_points_of(known.table) == cuts == dict(policy.cut_points)
    assert known.provenance["machine"] == MACHINE


def test_a_bin_holds_the_behaviours_that_the_action_table_has_in_it(observations: Path) -> None:
    held = cut_counters(observations, SETTINGS).behaviours
    known = tabulate_actions(observations, SETTINGS)
    for counts, bins in zip(held.values(), bins_of(known.table).T, strict=True):
        assert {i for i, count in enumerate(counts) if count} == set(bins.tolist())


@pytest.mark.parametrize("step", [choose_counters, cut_counters, tabulate_actions])
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
