"""Policies that studies judge programs by have not seen these programs (scripts/studies)."""

from __future__ import annotations

from pathlib import Path

import pytest
from script_module import script_module

from autofinity.workflow.policies import policy_for

unseen_policies = script_module("studies/unseen_policies.py")
MACHINE = "opteron-6164he"  # which has a policy of its own


def test_a_machines_own_policy_is_learned_without_the_program(tmp_path: Path) -> None:
    policy = unseen_policies.UnseenPolicies(tmp_path)(MACHINE, "cg")
    programs = policy.provenance["observations"]["programs"]
    assert "bfs" in programs and "cg" not in programs


def test_elsewhere_the_policy_for_any_machine_is_learned_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, object]] = []

    def leaving(left_out: str, evidence: object, *more: object) -> object:
        asked.append((left_out, evidence))
        return lambda machine, program: f"without {program} on {machine}"

    monkeypatch.setattr(unseen_policies, "machines_in", lambda folder: folder)
    monkeypatch.setattr(unseen_policies, "evidence_on", lambda known, settings: {"any": known})
    monkeypatch.setattr(unseen_policies, "all_of", lambda evidence: Evidence())
    monkeypatch.setattr(unseen_policies, "leaving", leaving)
    policies = unseen_policies.UnseenPolicies(tmp_path)
    assert policies("epyc-9654", "cg") == "without cg on epyc-9654"
    assert policies("xeon-8480", "bfs") == "without bfs on xeon-8480"
    assert [left_out for left_out, _ in asked] == ["program"]


@pytest.mark.parametrize("machine", [MACHINE, "epyc-9654"])
def test_nothing_is_learned_again_for_a_program_that_no_policy_has_seen(
    machine: str, tmp_path: Path
) -> None:
    assert unseen_policies.UnseenPolicies(tmp_path)(machine, "stream") == policy_for(machine)
    assert not list(tmp_path.iterdir())


def test_a_policy_that_was_learned_is_not_learned_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = unseen_policies.UnseenPolicies(tmp_path)(MACHINE, "cg")

    def learned_again(*asked: object) -> object:
        raise AssertionError(asked)

    monkeypatch.setattr(unseen_policies, "rules_of", learned_again)
    assert unseen_policies.UnseenPolicies(tmp_path)(MACHINE, "cg") == policy


class Evidence:
    def digest(self) -> str:
        return "all"
