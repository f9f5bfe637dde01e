"""Which policy a machine gets that has none of its own, and that it is said."""

from __future__ import annotations

import pytest
from told import Told

from autofinity.resources import shipped
from autofinity.sim.preset import preset_names
from autofinity.workflow.policies import policy_for, shipped_policies


@pytest.mark.parametrize("name", preset_names())
def test_a_machine_gets_its_own_policy_or_hears_that_it_is_another_ones(name: str) -> None:
    told = Told()
    policy = policy_for(name, told)
    own = policy.provenance["machine"] == name
    assert own == (not told.notices)
    assert own or told.notices == [
        f"no policy of {name} is shipped; taken is the default one, learned on opteron-6164he"
    ]


def test_the_papers_machine_needs_no_other_policy_than_the_default_one() -> None:
    told = Told()
    assert policy_for("opteron-6164he", told) == policy_for("nowhere.toml")
    assert told.notices == []
    assert "opteron-6164he" not in shipped_policies()


def test_every_machine_whose_observations_are_shipped_has_its_own_policy() -> None:
    observed = {path.stem for path in shipped("data", "observations").glob("*.parquet")}
    assert {"opteron-6164he", "epyc-9654", "xeon-8480"} < observed <= set(preset_names())
    for name in observed:
        told = Told()
        assert policy_for(name, told).provenance["machine"] == name
        assert told.notices == []
