"""Which policy a preset machine gets, and that another machine's is never taken unasked."""

from __future__ import annotations

import pytest
from told import Told

from autofinity.model.errors import PolicyError
from autofinity.policy.shipped import ANY_MACHINE, policy_names, policy_of_any_machine
from autofinity.resources import shipped
from autofinity.sim.preset import preset_names
from autofinity.workflow.policies import named_policy, policy_for


@pytest.mark.parametrize("name", preset_names())
def test_a_machine_gets_its_own_policy_or_hears_that_there_is_none(name: str) -> None:
    told = Told()
    policy = policy_for(name, told)
    if name in policy_names():
        assert policy is not None
        assert policy.provenance["machine"] == name
        assert told.notices == []
    elif policy_of_any_machine() is not None:
        assert policy == named_policy(ANY_MACHINE)
    else:
        assert policy is None
        assert told.notices == [
            f"no policy of {name} is shipped: what asks one is left out; --policy names another "
            "machine's"
        ]


def test_policies_are_of_machines_whose_observations_are_shipped_and_one_is_for_any() -> None:
    observed = {path.stem for path in shipped("data", "observations").glob("*.parquet")}
    assert {"opteron-6164he", "epyc-9654", "xeon-8480"} < observed <= set(preset_names())
    assert set(policy_names()) <= {ANY_MACHINE, *observed}
    for name in set(policy_names()) - {ANY_MACHINE}:
        assert named_policy(name).provenance["machine"] == name
    made_of = named_policy(ANY_MACHINE).provenance
    assert made_of["machine"] == "any"
    assert set(made_of["machines"]) == observed  # type: ignore[call-overload]


def test_no_policy_is_the_default_one() -> None:
    with pytest.raises(PolicyError, match="is called opteron-6164he and is of that machine only"):
        named_policy("default")
