"""The shipped observations that a policy was learned from, if they are those."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autofinity.evaluation.bootstrap import FEWEST
from autofinity.evaluation.machine_runs import MachineRuns
from autofinity.evaluation.under_rule import Fell, fell_under
from autofinity.model.errors import LearningError
from autofinity.model.policy import Rule, RulePolicy
from autofinity.store.observation_table import ObservationTable
from autofinity.workflow.advice.worth import programs_of, with_os
from autofinity.workflow.machine_facts import facts_on
from autofinity.workflow.observations import ANY, matches_for, observations_of


@dataclass(frozen=True, slots=True)
class Learned:
    """Observations that a policy was learned from."""

    policy: RulePolicy
    """As it was learned."""
    machines: tuple[MachineRuns, ...]
    threads: tuple[int, ...]
    """The counts that it was learned at; none: all that were observed."""

    def under(self, rule: Rule | None, kind: str) -> list[Fell]:
        """Workloads that the rule decided (None: the default): those on machines of this `kind`
        where that is enough to judge by (`FEWEST` programs), else on all.
        """
        own = [runs for runs in self.machines if runs.name == kind]
        fell = self._under(rule, own)
        if len(programs_of(with_os(fell))) >= FEWEST:
            return fell
        return fell + self._under(rule, [runs for runs in self.machines if runs.name != kind])

    def _under(self, rule: Rule | None, machines: list[MachineRuns]) -> list[Fell]:
        return [
            fell for runs in machines for fell in fell_under(rule, self.policy, runs, self.threads)
        ]


def learned_from(policy: RulePolicy) -> Learned:
    """Read the observations that `policy` was learned from; takes seconds. Raises `AutofinityError`
    where these are not shipped, or the file of the policy does not say which they are.
    """
    machine = policy.provenance.get("machine")
    if machine == ANY:
        return _several(policy)
    threads = policy.provenance.get("threads")
    if not isinstance(machine, str) or not (isinstance(threads, list) and threads):
        raise LearningError(
            "it does not name the machine and the thread counts that it was learned from"
        )
    counts = tuple(count for count in threads if isinstance(count, int))
    table = observations_of(machine)
    placed = table.placed_by("affinity")
    if placed.take(np.isin(placed.threads, counts)).digest() != _made_of(policy).get("digest"):
        raise LearningError(
            f"it was learned from other observations than the shipped ones of {machine}"
        )
    return Learned(policy, (_runs(machine, table),), counts)


def _several(policy: RulePolicy) -> Learned:
    """The file of such a policy has no digest: it is to have as many rows of the same programs."""
    names, made_of = policy.provenance.get("machines"), _made_of(policy)
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise LearningError("it does not name the machines that it was learned from")
    tables = {name: observations_of(name) for name in dict.fromkeys(names)}
    rows = sum(len(table) for table in tables.values())
    programs = sorted({program for table in tables.values() for program in table.programs()})
    if (rows, programs) != (made_of.get("rows"), made_of.get("programs")):
        raise LearningError(
            "it was learned from other observations than the shipped ones of its machines"
        )
    return Learned(policy, tuple(_runs(name, table) for name, table in tables.items()), ())


def _made_of(policy: RulePolicy) -> dict[str, object]:
    made_of = policy.provenance.get("observations")
    return made_of if isinstance(made_of, dict) else {}


def _runs(name: str, table: ObservationTable) -> MachineRuns:
    return MachineRuns(name, table, matches_for(table, name), facts_on(name))
