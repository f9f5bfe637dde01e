"""A policy judged on programs that it has not seen.

Each program is left out in turn. A policy that is learned from the others, or given, gets the
program's sample in the spread affinity; then the program's time in the chosen affinity is
looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import Learn, Skipped, judge
from autofinity.evaluation.left_out import leaving_out
from autofinity.evaluation.verdict import Verdict, verdict_of
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import LearningError, UsageError
from autofinity.model.observation import Workload
from autofinity.model.policy import RulePolicy
from autofinity.reporter import SILENT, Reporter
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.workflow.backends import machine_topology
from autofinity.workflow.kept_policies import KeptPolicies
from autofinity.workflow.machine_events import settings_on
from autofinity.workflow.machine_facts import facts_on
from autofinity.workflow.observations import thread_counts_of, with_threads
from autofinity.workflow.planned_runs import check_affinities
from autofinity.workflow.policies import named_policy
from autofinity.workflow.profile import gather
from autofinity.workflow.train import learn
from autofinity.workflow.wanted import Wanted

DEFAULT_THREADS = 8


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Result of an evaluation."""

    cases: list[Case]
    skipped: list[Skipped]
    verdict: Verdict
    affinities: int
    """Number of affinities of which the oracle is the best."""
    judged: ObservationTable
    """The observations that the cases were judged by."""
    policies: Mapping[str, RulePolicy]
    """By program: the policy that chose for it."""


def evaluate(
    wanted: Wanted,
    settings: LearningSettings | None = None,
    *,
    train_threads: Sequence[int] = (),
    policy: str | Path | None = None,
    observations: Path | None = None,
    samples: int | None = None,
    before_runs: str = "",
    reporter: Reporter = SILENT,
) -> Evaluated:
    """Judge at the wanted thread counts; without any, at those of the observations, or at 8.

    `policy` (a file, or the name of a shipped one) is judged as it is. Otherwise policies are
    learned at `train_threads`, by default at all thread counts that are judged or observed. By the
    paper's way (from sample periods) the default is 8, or all where 8 was not observed. With
    `observations` (a file or folder) nothing is profiled. Otherwise the wanted runs and baselines
    are profiled, at the thread counts of both. The policy gets the mean of `samples` sample periods
    (0: of the whole run), by default as many as it is learned for. `before_runs`: a notice to give
    when all is in order and profiling begins. Raises `LearningError` when no case can be judged,
    `UsageError` for negative `samples`, and the errors of `gather`.
    """
    settings = settings or LearningSettings()
    samples = settings.window if samples is None else samples
    if samples < 0:
        raise UsageError(f"samples {samples}: expected some, or 0 for the whole run")
    given = None if policy is None else _given(policy)  # before anything is profiled
    if observations is None:
        threads = wanted.threads or (DEFAULT_THREADS,)
        every = replace(wanted, threads=(*threads, *train_threads))
        check_affinities(every)
        if given is None:
            _check_enough(_that_run(every))
        wanted = replace(wanted, threads=threads, baselines=True)
        if before_runs:
            reporter.notice(before_runs)
        judged = gather(wanted, reporter)
    else:
        judged = _recorded(observations, wanted)
        wanted = replace(wanted, threads=wanted.threads or thread_counts_of(judged))
    if given is None:
        _check_enough(judged.programs())
        may_profile = observations is None
        train_counts = tuple(train_threads) or _counts_to_learn_from(
            judged, settings, may_profile=may_profile
        )
        table = judged
        if may_profile and not set(train_counts) <= set(wanted.threads):
            table = gather(replace(wanted, threads=train_counts), reporter)
        given = _leaving_out(with_threads(table, train_counts), wanted, settings)
    policies: dict[str, RulePolicy] = {}
    workloads = judged.workload()[np.isin(judged.threads, wanted.threads)]
    with reporter.progress("judge", len(np.unique(workloads))) as done:
        cases, skipped = judge(
            judged,
            wanted.threads,
            _noting(given, policies),
            BestMatches(machine_topology(wanted.machine)),
            WARMUP_PERIODS,
            samples,
            lambda workload: done.step(workload.program),
            facts_of=facts_on(wanted.machine),
        )
    skipped += _not_run(judged, wanted)
    if not cases:
        raise _no_case(judged, wanted, skipped)
    affinities = len(judged.placed_by("affinity").affinity.names)
    return Evaluated(cases, skipped, verdict_of(cases), affinities, judged, policies)


def _that_run(wanted: Wanted) -> list[str]:
    """Names of the wanted programs that have a run at some wanted size and thread count."""
    return [
        spec.name
        for spec in wanted.suite.pick(wanted.programs)
        if any(map(spec.threads.allows, wanted.threads)) and set(wanted.sizes) & set(spec.inputs)
    ]


def _check_enough(programs: Sequence[str]) -> None:
    """Raise `LearningError` for one program alone; for none, later steps say why."""
    if len(programs) == 1:
        raise LearningError(
            f"got {programs[0]}, expected at least two programs: "
            "each is judged by a policy that is learned from the others. --policy judges a given "
            "policy"
        )


def _no_case(judged: ObservationTable, wanted: Wanted, skipped: list[Skipped]) -> LearningError:
    counts = ",".join(map(str, thread_counts_of(judged)))
    return LearningError(
        f"no case on {wanted.machine} can be judged: "
        + "; ".join(sorted({missed.reason for missed in skipped}))
        + f". There are runs with {counts} threads; --observations none profiles others"
    )


def _recorded(path: Path, wanted: Wanted) -> ObservationTable:
    """Observations of the wanted programs from a file.

    Raises `StoreError`, `SuiteError` for a program that the suite has not, and `LearningError` for
    one without observations.
    """
    wanted.suite.pick(wanted.programs)
    table = read(path)
    if not wanted.programs:
        return table
    missing = set(wanted.programs) - set(table.programs())
    if missing:
        raise LearningError(
            f"{path} has no observations of {', '.join(sorted(missing))}; it has those of "
            + ", ".join(table.programs())
        )
    return table.take(np.isin(table.program.text(), wanted.programs))


def _given(name: str | Path) -> Learn:
    policy = named_policy(name)
    return lambda program: policy


def _noting(learn: Learn, policies: dict[str, RulePolicy]) -> Learn:
    """The same, with a note of each policy."""

    def noted(program: str) -> RulePolicy:
        policies[program] = learn(program)
        return policies[program]

    return noted


def _leaving_out(table: ObservationTable, wanted: Wanted, settings: LearningSettings) -> Learn:
    """Policies learned without the program that they judge; the work folder keeps them."""
    without = leaving_out(table, lambda others: learn(others, wanted, settings).policy)
    facts_of = facts_on(wanted.machine)
    facts = [dict(facts_of(threads)) for threads in thread_counts_of(table)]
    machine = f"{wanted.machine} {machine_topology(wanted.machine)!r} {facts}"
    known = settings_on(settings, wanted.machine, table.counters)
    kept = KeptPolicies(wanted.work, known, table.digest(), machine)
    return lambda program: kept.get(program, lambda: without(program))


def _counts_to_learn_from(
    judged: ObservationTable, settings: LearningSettings, *, may_profile: bool
) -> tuple[int, ...]:
    """All observed thread counts; of sample periods the paper's one, where there are such runs."""
    there = may_profile or DEFAULT_THREADS in judged.threads
    if settings.labels == "periods" and there:
        return (DEFAULT_THREADS,)
    return thread_counts_of(judged)


def _not_run(judged: ObservationTable, wanted: Wanted) -> list[Skipped]:
    """Programs of the suite without runs at a thread count, with the reason; for the wanted sizes,
    or those that were profiled where none of the wanted ones was.
    """
    inputs = judged.input.text()
    seen = set(zip(judged.program.text(), inputs, judged.threads.tolist(), strict=True))
    profiled = set(inputs)
    sizes = [size for size in wanted.sizes if size in profiled] or sorted(profiled)
    missing = []
    for spec in wanted.suite.pick(wanted.programs):
        for size, threads in product(sizes, wanted.threads):
            if (spec.name, size, threads) in seen:
                continue
            reason = f"was not profiled with {threads} threads"
            if not spec.threads.allows(threads):
                reason = f"does not run with {threads} threads (allowed: {spec.threads})"
            missing.append(Skipped(Workload(spec.name, size, threads), reason))
    return missing
