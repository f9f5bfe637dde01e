"""Observations on one machine, and the judgement of policies by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import Skipped, judge
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.model.facts import FactsOf
from autofinity.model.policy import RulePolicy
from autofinity.store.observation_table import ObservationTable


@dataclass(frozen=True, slots=True, eq=False)
class MachineRuns:
    """Observations on one machine, and known facts of that machine."""

    name: str
    table: ObservationTable
    """Observations of runs that an affinity placed, and of others."""
    matches: BestMatches
    facts_of: FactsOf

    def judged(
        self,
        policy_without: Callable[[str], RulePolicy],
        report: Callable[[str], None] = lambda program: None,
    ) -> tuple[list[Case], list[Skipped]]:
        """Judge each program at each of its thread counts by the policy given for that program."""
        return judge(
            self.table,
            sorted(set(self.table.threads.tolist())),
            policy_without,
            self.matches,
            WARMUP_PERIODS,
            0,
            lambda workload: report(workload.program),
            facts_of=self.facts_of,
        )
