"""`autofinity show` without a policy: the shipped ones, by name."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from autofinity.cli.main import cli
from autofinity.model.errors import UsageError
from autofinity.policy.shipped import policy_names
from autofinity.workflow.policies import named_policy


def test_without_a_policy_the_shipped_ones_are_listed_with_their_number_of_rules() -> None:
    lines = CliRunner().invoke(cli, ["show"]).output.splitlines()
    rows = {line.split()[0]: line.split() for line in lines[1:-1]}
    assert list(rows) == list(policy_names())
    document = json.loads(CliRunner().invoke(cli, ["show", "--json"]).output)
    for each in document["policies"]:
        assert each["rules"] == len(named_policy(each["name"]).rules)
        assert str(each["rules"]) in rows[each["name"]]


def test_words_need_a_policy() -> None:
    with pytest.raises(UsageError, match="expected its file or name"):
        CliRunner().invoke(cli, ["show", "--words"], catch_exceptions=False)


@pytest.mark.parametrize("name", policy_names())
def test_every_fact_that_a_policy_is_made_of_has_a_value(name: str) -> None:
    text = CliRunner().invoke(cli, ["show", name]).output.partition("made of:\n")[2]
    text = text.partition("\nnotes:")[0]
    made_of = [line for line in text.splitlines() if line.startswith("  ")]
    assert made_of
    for line in made_of:
        for part in line.partition(": ")[2].split(", "):
            assert part and part == part.strip(), line
