"""One policy for all machines, judged where it has not been: on programs, machines, or both that
were left out of what it was learned from.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import Skipped, judge
from autofinity.learning.feature_columns import with_facts
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.settings import LearningSettings
from autofinity.learning.several_machines import Evidence, evidence_of, joined, learn_from
from autofinity.model.facts import FactsOf
from autofinity.model.policy import RulePolicy
from autofinity.policy.on_machine import on_machine
from autofinity.store.observation_table import ObservationTable

type LeftOut = Literal["program", "machine", "both"]
LEFT_OUT: tuple[str, ...] = get_args(LeftOut.__value__)


@dataclass(frozen=True, slots=True, eq=False)
class MachineRuns:
    """What was observed on one machine, and what is known of it."""

    name: str
    table: ObservationTable
    """Of runs that an affinity placed, and others."""
    matches: BestMatches
    facts_of: FactsOf

    def evidence(self, settings: LearningSettings) -> Evidence:
        """What is learned from it. Raises `LearningError`."""
        table = with_facts(self.table.placed_by("affinity"), self.facts_of)
        return evidence_of(table, settings, hints_on(self.matches, settings.leeway))

    def judged(
        self,
        policy_without: Callable[[str], RulePolicy],
        report: Callable[[str], None] = lambda program: None,
    ) -> tuple[list[Case], list[Skipped]]:
        """Each program at each of its thread counts, by the policy that is given for it."""
        counts = sorted(set(self.table.threads.tolist()))
        found = [self._judged_with(threads, policy_without, report) for threads in counts]
        return [case for some, _ in found for case in some], [s for _, some in found for s in some]

    def _judged_with(
        self,
        threads: int,
        policy_without: Callable[[str], RulePolicy],
        report: Callable[[str], None],
    ) -> tuple[list[Case], list[Skipped]]:
        facts = self.facts_of(threads)
        return judge(
            self.table.take(self.table.threads == threads),
            [threads],
            lambda program: on_machine(policy_without(program), facts),
            self.matches,
            WARMUP_PERIODS,
            0,
            lambda workload: report(workload.program),
        )


def evidence_on(
    machines: Mapping[str, MachineRuns], settings: LearningSettings
) -> dict[str, Evidence]:
    """By the name of the machine. Raises `LearningError`."""
    return {name: runs.evidence(settings) for name, runs in machines.items()}


def unseen(
    learned_from: Evidence, left_out: LeftOut, settings: LearningSettings
) -> Callable[[str, str], RulePolicy]:
    """(machine, program) → the policy that has not seen what is left out, each learned once."""

    @functools.cache
    def without(machine: str, program: str) -> RulePolicy:
        return learn_from(
            learned_from.without(machine=machine, program=program), settings, {}
        ).policy

    def policy(machine: str, program: str) -> RulePolicy:
        return without(
            machine if left_out != "program" else "", program if left_out != "machine" else ""
        )

    return policy


def all_of(evidence: Mapping[str, Evidence]) -> Evidence:
    """The evidence of all machines as one."""
    return joined(list(evidence.values()))
