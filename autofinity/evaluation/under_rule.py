"""Workloads whose first sample one rule of a policy decides, and the policy's answers for them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from autofinity.evaluation.cases import Case, case_of
from autofinity.evaluation.judge import OwnMatches, behaviour_seen
from autofinity.evaluation.machine_runs import MachineRuns
from autofinity.evaluation.times import Times, times_of
from autofinity.learning.feature_columns import with_sums
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.model.affinity import Hint
from autofinity.model.errors import LearningError
from autofinity.model.observation import Workload
from autofinity.model.policy import Rule, RulePolicy
from autofinity.policy.on_machine import on_machine
from autofinity.store.observation_table import ObservationTable


@dataclass(frozen=True, slots=True)
class Fell:
    """A workload that fell under the rule."""

    machine: str
    answer: Hint
    """The final answer of the policy: that of its second look, where it takes one."""
    case: Case
    """Result of that answer, with its alternatives."""


def fell_under(
    rule: Rule | None, policy: RulePolicy, runs: MachineRuns, threads: Collection[int]
) -> list[Fell]:
    """Workloads on one machine that `rule` of the policy decides first (None: its default).

    Decisions are by whole runs, as policies are judged. With `threads`, only workloads of these
    thread counts.

    The policy is as it was learned: facts of that machine are put in here. Workloads that were not
    profiled in all hints are left out.
    """
    table = with_sums(runs.table)
    times = times_of(table)
    wanted = [each for each in sorted(times.roi_s) if not threads or each.threads in threads]
    fell = (_fell(rule, policy, runs, table, times, workload) for workload in wanted)
    return [one for one in fell if one is not None]


def _fell(
    rule: Rule | None,
    policy: RulePolicy,
    runs: MachineRuns,
    table: ObservationTable,
    times: Times,
    workload: Workload,
) -> Fell | None:
    here = on_machine(policy, runs.facts_of(workload.threads))
    own = OwnMatches(runs.matches, times.placed(workload))
    try:
        said = own.answers(
            here, lambda affinity: behaviour_seen(table, workload, affinity, WARMUP_PERIODS, 0)
        )
        if (None if said[0].rule is None else here.rules[said[0].rule]) != rule:
            return None
        case = case_of(workload, times, own, own.last_word(here, said[-1]))
    except LearningError:
        return None
    return Fell(runs.name, said[-1].hint, case)
