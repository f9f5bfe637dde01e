"""Which policy a preset machine gets, and that another machine's is never taken unasked."""

from __future__ import annotations

from dataclasses import fields

import pytest
from told import Told

from autofinity.learning.settings import PAPER
from autofinity.linux.event_tables import all_encodings, event_table
from autofinity.model.errors import PolicyError
from autofinity.policy.shipped import (
    ANY_MACHINE,
    MACHINES,
    PAPERS_END,
    policy_names,
    policy_of_any_machine,
    policy_of_machine,
    read_machines,
)
from autofinity.resources import shipped
from autofinity.sim.preset import load_preset, preset_names
from autofinity.workflow.policies import named_policy, policy_for

BY_PAPER = (
    *("opteron-6164he", "xeon-x7550", "altix-450", "opteron-6386", "xeon-e5-2650"),
    *("epyc-9654", "xeon-8480", "ampere-altra"),
)
OF_MACHINE = {"counters", "cross_core", "uncounted"}


@pytest.mark.parametrize("name", sorted(policy_names()))
def test_no_shipped_policy_needs_a_fact_of_the_machine_as_doctor_and_documents_say(
    name: str,
) -> None:
    assert named_policy(name).facts == ()


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
            f"no policy of {name} is shipped: mechanisms that need a policy are left out; "
            "--policy names another machine's"
        ]


def test_policies_are_of_machines_whose_observations_are_shipped_and_one_is_for_any() -> None:
    observed = {path.stem for path in shipped("data", "observations").glob("*.parquet")}
    assert {"opteron-6164he", "epyc-9654", "xeon-8480"} < observed <= set(preset_names())
    assert {name.removesuffix(PAPERS_END) for name in policy_names()} <= {ANY_MACHINE, *observed}
    for name in set(policy_names()) - {ANY_MACHINE}:
        assert named_policy(name).provenance["machine"] == name.removesuffix(PAPERS_END)
    made_of = named_policy(ANY_MACHINE).provenance
    assert made_of["machine"] == "any"
    assert set(made_of["machines"]) == observed  # type: ignore[call-overload]


@pytest.mark.parametrize("machine", BY_PAPER)
def test_a_policy_of_the_papers_method_is_shipped_by_name_and_asked_only_by_it(
    machine: str,
) -> None:
    """The machines of the five papers, and three of today's."""
    policy = named_policy(f"{machine}{PAPERS_END}")
    settings = policy.provenance["settings"]
    fixed = {f.name: getattr(PAPER, f.name) for f in fields(PAPER) if f.name not in OF_MACHINE}
    assert {name: settings[name] for name in fixed} == fixed  # type: ignore[index]
    cpu = load_preset(machine).cpu
    counted = event_table(cpu).keys() if cpu else {name for _, name in all_encodings()}
    assert set(policy.counters) <= counted
    assert policy_for(machine) != policy
    asked = [
        policy_of_machine(known.cpu_model, known.shape)
        for known in read_machines(shipped("policies", MACHINES))
    ]
    assert not [path for path in asked if path is not None and PAPERS_END in path.name]


def test_no_policy_is_the_default_one() -> None:
    with pytest.raises(PolicyError, match="is called opteron-6164he and is of that machine only"):
        named_policy("default")
