"""Policies that have not seen a program: the shipped ones, learned again without it.

A run of a training program under a shipped policy proves little, since the policy was learned from
this program among others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

from autofinity.evaluation.across import PolicyFor, all_of, evidence_on, leaving
from autofinity.evaluation.left_out import leaving_out
from autofinity.learning.settings import LearningSettings
from autofinity.model.policy import RulePolicy
from autofinity.policy.shipped import policy_names
from autofinity.store.observations import read
from autofinity.workflow.kept_policies import KeptPolicies
from autofinity.workflow.policies import policy_for
from autofinity.workflow.several_machines import for_any_machine, machines_in
from autofinity.workflow.train import rules_of

OBSERVATIONS = Path(__file__).resolve().parents[2] / "data" / "observations"


class UnseenPolicies:
    """For a machine and a program: the machine's own policy where one is shipped, else the policy
    for any machine, learned from the shipped observations of all other programs. A program of which
    there are none is unseen by the shipped policy itself.

    Learned policies are kept in the folder `work`.
    """

    def __init__(self, work: Path) -> None:
        self._work = work

    def __call__(self, machine: str, program: str) -> RulePolicy:
        policy = policy_for(machine)
        assert policy is not None
        if program not in policy.provenance["observations"]["programs"]:  # type: ignore[index]
            return policy
        if machine in policy_names():
            return self._own(machine)(program)
        return self._anywhere(machine, program)

    @cached_property
    def _anywhere(self) -> PolicyFor:
        settings = for_any_machine()
        evidence = all_of(evidence_on(machines_in(OBSERVATIONS), settings))
        kept = KeptPolicies(self._work, settings, evidence.digest())
        return leaving("program", evidence, settings, kept.get)

    @cache  # noqa: B019 (one object for a study)
    def _own(self, machine: str) -> Callable[[str], RulePolicy]:
        settings = LearningSettings()
        path = OBSERVATIONS / f"{machine}.parquet"
        kept = KeptPolicies(self._work, settings, sha256(path.read_bytes()).hexdigest())
        learn = leaving_out(read(path), lambda rest: rules_of(rest, settings)[0])
        return lambda program: kept.get(f"{machine}\n{program}", lambda: learn(program))
