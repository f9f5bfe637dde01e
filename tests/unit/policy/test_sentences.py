"""Rules are said in sentences, whatever learning may choose."""

import math

import pytest

from autofinity.model.affinity import PACKED
from autofinity.model.policy import Condition, Rule
from autofinity.model.ratios import CATALOGUE, GAINS
from autofinity.policy.readable import policy_text
from autofinity.policy.sentences import sentence
from autofinity.policy.shipped import PAPERS_END, policy_names
from autofinity.workflow.policies import named_policy

INF = math.inf


@pytest.mark.parametrize("name", [ratio.name for ratio in (*CATALOGUE, *GAINS)])
def test_every_ratio_has_a_sentence(name: str) -> None:
    for bounds in ((0.5, INF), (-INF, 0.5), (0.25, 0.5), (-INF, INF)):
        said = sentence(Rule((Condition(name, *bounds),), PACKED))
        assert said and "{}" not in said


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ((0.5, INF), "packed, the threads would ask for more than 50 % of what their memory paths"),
        ((-INF, 0.5), "packed, the threads would ask for at most 50 % of what their memory paths"),
        ((0.1, 0.5), "packed, the threads would ask for 10 % to 50 % of what their memory paths"),
    ],
)
def test_bounds_are_said_in_units(bounds: tuple[float, float], said: str) -> None:
    rule = Rule((Condition("packed_path_share", *bounds),), PACKED)
    assert sentence(rule) == f"{said} carry"


def test_what_has_no_meaning_here_has_no_sentence() -> None:
    known = Condition("ipc", 0.5, INF)
    assert sentence(Rule((known, Condition("made up", 0.5, INF)), PACKED)) == ""


@pytest.mark.parametrize("name", [n for n in policy_names() if not n.endswith(PAPERS_END)])
def test_shipped_policies_say_each_rule_in_a_sentence(name: str) -> None:
    policy = named_policy(name)
    looks = [policy] if policy.second is None else [policy, policy.second.policy]
    rules = [rule for look in looks for rule in look.rules]
    assert len(rules) <= 12 * len(looks)
    shown = policy_text(policy)
    for rule in rules:
        assert sentence(rule) and f"{sentence(rule)}\n" in shown
