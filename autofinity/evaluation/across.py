"""One policy for all machines, judged on programs, machines, or both that were left out of
learning.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Literal, get_args

from autofinity.evaluation.machine_runs import MachineRuns
from autofinity.learning.feature_columns import with_facts
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.settings import LearningSettings
from autofinity.learning.several_machines import Evidence, evidence_of, joined, learn_from
from autofinity.model.policy import RulePolicy
from autofinity.policy.shipped import modes_of

type LeftOut = Literal["program", "machine", "both"]
LEFT_OUT: tuple[LeftOut, ...] = get_args(LeftOut.__value__)
type PolicyFor = Callable[[str, str], RulePolicy]
"""(machine, program) → the policy that is judged there."""
type Keep = Callable[[str, Callable[[], RulePolicy]], RulePolicy]
"""(name, how to learn it) → the policy of that name, learned unless it is kept."""


def learned_anew(name: str, learn: Callable[[], RulePolicy]) -> RulePolicy:
    """The `Keep` of who keeps nothing."""
    del name
    return learn()


def evidence_on(
    machines: Mapping[str, MachineRuns], settings: LearningSettings
) -> dict[str, Evidence]:
    """Evidence by the name of the machine. Raises `LearningError`."""
    return {name: _evidence(runs, settings) for name, runs in machines.items()}


def _evidence(runs: MachineRuns, settings: LearningSettings) -> Evidence:
    table = with_facts(runs.table.placed_by("affinity"), runs.facts_of)
    return evidence_of(table, settings, hints_on(runs.matches, settings.leeway))


def leaving(
    left_out: LeftOut,
    learned_from: Evidence,
    settings: LearningSettings,
    keep: Keep = learned_anew,
) -> PolicyFor:
    """Policies that have not seen what `left_out` excludes, each learned once, or got from `keep`.

    A machine is left out in all its NUMA modes: with another one of its CPU, most of it would be
    known. `keep` names a policy by two lines, the machine and the program that are left out.
    """

    @functools.cache
    def without(machine: str, program: str) -> RulePolicy:
        def learn() -> RulePolicy:
            machines = modes_of(machine) if machine else ()
            rest = learned_from.without(machines=machines, program=program)
            return learn_from(rest, settings, {}).policy

        return keep(f"{machine}\n{program}", learn)

    def policy(machine: str, program: str) -> RulePolicy:
        return without(
            machine if left_out != "program" else "", program if left_out != "machine" else ""
        )

    return policy


def all_of(evidence: Mapping[str, Evidence]) -> Evidence:
    """The evidence of all machines as one."""
    return joined(list(evidence.values()))
