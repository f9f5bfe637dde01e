"""Leave one program out: learn without the program, take a sample of it, choose, and look up the
time.

Source: Moore & Childers, section 3. The sample is taken in the fixed starting affinity
(spread), and again in the affinities of a second look and of a trial, where the policy has
them. The program then runs again in the chosen affinity, which here is a look-up, since every best
match has been profiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case, case_of
from autofinity.evaluation.switched import SwitchedRuns
from autofinity.evaluation.times import times_of
from autofinity.learning.feature_columns import with_sums
from autofinity.learning.hint_samples import windows
from autofinity.model.affinity import Affinity, Hint
from autofinity.model.errors import LearningError
from autofinity.model.facts import FactsOf, no_facts
from autofinity.model.observation import Workload
from autofinity.model.policy import Decision, RulePolicy
from autofinity.policy.answers import answers
from autofinity.policy.on_machine import on_machine
from autofinity.store.observation_table import ObservationTable

type Learn = Callable[[str], RulePolicy]
"""Name of the program left out → a policy that has not seen that program."""
type InRun = Callable[[Workload, RulePolicy], float]
"""Seconds of the workload under the policy, which decides during the run; NaN where unknown."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A workload that could not be judged, and the reason: listed, never dropped silently."""

    workload: Workload
    reason: str


def judge(
    table: ObservationTable,
    threads: Sequence[int],
    learn: Learn,
    match: BestMatches,
    warmup: int,
    samples: int,
    report: Callable[[Workload], None] = lambda workload: None,
    in_run: InRun | None = None,
    facts_of: FactsOf = no_facts,
) -> tuple[list[Case], list[Skipped]]:
    """One case for each program and thread count of `table`, in that order.

    The policy gets the mean of `samples` periods after `warmup` cold ones (0: of the whole rest of
    the run, as before a restart), and that of one period alone. `learn` is called once for each
    program. `in_run` gives the time of a switched run; by default profiled runs of that kind give
    it. `facts_of` gives facts of the machine, for policies that ask for facts.
    """
    table = with_sums(table)
    times = times_of(table)
    energy = times_of(table, "energy_j")
    in_run = in_run or SwitchedRuns(table, times, match)
    cases: list[Case] = []
    skipped: list[Skipped] = []
    for program in table.programs():
        workloads = [s for s in times.roi_s if s.program == program and s.threads in threads]
        general = learn(program) if workloads else None
        for workload in sorted(workloads, key=lambda s: (s.input, s.threads)):
            assert general is not None
            policy = on_machine(general, facts_of(workload.threads))
            try:
                own = OwnMatches(match, times.placed(workload))
                short = _decided(policy, table, workload, own, warmup, 1).hint
                case = case_of(
                    workload,
                    times,
                    own,
                    _decided(policy, table, workload, own, warmup, samples),
                    one_period=short,
                    in_run_s=in_run(workload, policy),
                    energy=energy,
                )
                cases.append(case)
            except LearningError as error:
                skipped.append(Skipped(workload, str(error)))
            report(workload)
    return cases, skipped


@dataclass(frozen=True, slots=True)
class OwnMatches:
    """Best matches for the placed thread count of a workload."""

    match: BestMatches
    threads: int

    def __call__(self, hint: Hint) -> Affinity:
        """Class of the hint's best match."""
        return self.match(self.threads, hint)

    def answers(
        self, policy: RulePolicy, seen: Callable[[Affinity], Mapping[str, float]]
    ) -> tuple[Decision, ...]:
        """All answers of the policy, from samples of each affinity."""
        return answers(policy, lambda hint: seen(self(hint)), self.threads, self.match.cores)

    def last_word(self, policy: RulePolicy, said: Decision) -> Decision:
        """An answer in its meaning for this thread count on this machine."""
        return replace(said, hint=policy.at(said.hint, self.threads, self.match.cores))


def behaviour_seen(
    table: ObservationTable, workload: Workload, affinity: Affinity, warmup: int, samples: int
) -> Mapping[str, float]:
    """Mean counters of a window of `workload` in `affinity`, with the lowest profiled seed.

    The window is as in training (`learning.hint_samples`). Raises `LearningError` when there is no
    such run.
    """
    rows = table.rows_of(workload.program, workload.input, workload.threads, "affinity", affinity)
    if not len(rows):
        raise LearningError(
            f"{workload.program} with {workload.threads} threads has no sample in {affinity}, "
            "where one is taken: it ended within a sample period there, or was not profiled "
            "(autofinity profile --affinities hints)"
        )
    rows = rows[table.seed[rows] == table.seed[rows].min()]
    window = windows(rows, table.sample[rows], warmup, samples)[0]
    return {name: float(values[window].mean()) for name, values in table.counters.items()}


def _decided(
    policy: RulePolicy,
    table: ObservationTable,
    workload: Workload,
    own: OwnMatches,
    warmup: int,
    samples: int,
) -> Decision:
    """The final answer of a policy, for as many threads as are placed on the judged machine."""
    said = own.answers(
        policy, lambda affinity: behaviour_seen(table, workload, affinity, warmup, samples)
    )
    return own.last_word(policy, said[-1])
