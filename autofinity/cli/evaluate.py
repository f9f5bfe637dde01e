"""`autofinity evaluate`: judge a policy on programs it has not seen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from autofinity.cli.backends import machine_topology
from autofinity.cli.campaign import Wanted, gather
from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import learning_options
from autofinity.cli.options.profiling import (
    ProfilingOptions,
    profiling_options,
    thread_counts,
    wanted_of,
)
from autofinity.cli.page import print_table
from autofinity.cli.progress import progress
from autofinity.cli.shipped_observations import shipped_observations
from autofinity.cli.train import learn
from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import LearningError

if TYPE_CHECKING:
    from autofinity.evaluation.judge import Learn, Skipped
    from autofinity.store.observation_table import ObservationTable


@click.command("evaluate")
@profiling_options
@learning_options("rules")
@click.option(
    "--threads",
    default=None,
    help="Judge at these thread counts.  [default: those of the observations, or 8]",
)
@click.option(
    "--train-threads",
    default=None,
    help="Learn from these thread counts only, as the paper does.  [default: 8; those of the "
    "observations where 8 is not among them]",
)
@click.option(
    "--policy",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Judge this policy on the suite, instead of leaving one program out.",
)
@click.option(
    "--observations",
    type=click.Path(path_type=Path),
    default=None,
    help="Judge by these observations (a folder or a file of `profile`), without profiling.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Periods after the warm-up whose mean is shown to the policy; 0: the whole run, which is "
    "then run again.",
)
@click.option(
    "--fresh",
    is_flag=True,
    help="Profile, even where observations of the machine are shipped and no option says how.",
)
@json_option
def command(
    threads: str | None,
    train_threads: str | None,
    policy: Path | None,
    observations: Path | None,
    samples: int,
    fresh: bool,
    as_json: bool,
    settings: LearningSettings,
    **options: Unpack[ProfilingOptions],
) -> None:
    """Judge a policy on programs it has not seen.

    Each program is left out in turn: a policy is learned from the others, shown what it did in
    the distributed affinity, and the program runs again in the chosen affinity, or is switched
    while it runs. Beside it stand packed, distributed, the OS's scheduler, compact, random, the
    best of the eight hints and the oracle (the best affinity profiled), in time and energy.

    A machine whose observations are shipped is not profiled, unless an option says how to.
    """
    from autofinity.affinity.best_matches import BestMatches
    from autofinity.evaluation.judge import judge
    from autofinity.evaluation.verdict import verdict_of
    from autofinity.report import evaluation_table

    wanted = replace(wanted_of(options, threads or "8"), baselines=True)
    if observations is None and not fresh and not _says_how_to_profile():
        observations = shipped_observations(wanted.machine)
    judged = _recorded(observations, wanted) if observations else gather(wanted)
    if observations and threads is None:
        wanted = replace(wanted, threads=tuple(sorted(set(judged.threads.tolist()))))
    if train_threads is None:
        there = observations is None or 8 in judged.threads
        train_threads = "8" if there else _counts(judged)
    source = judged if observations else None
    if policy is not None:
        learner = _given(policy)
    else:
        learner = _left_out(judged, wanted, train_threads, settings, source)
    with progress("judge", len(judged.programs()) * len(wanted.threads)) as bar:
        cases, skipped = judge(
            judged,
            wanted.threads,
            learner,
            BestMatches(machine_topology(wanted.machine)),
            settings.warmup,
            samples,
            lambda workload: bar.step(workload.program),
        )
    skipped += _not_run(judged, wanted)
    if not cases:
        raise LearningError(
            f"no case on {wanted.machine} can be judged: "
            + "; ".join(sorted({missed.reason for missed in skipped}))
            + f". There are runs with {_counts(judged)} threads; --fresh profiles others"
        )
    verdict = verdict_of(cases)
    if as_json:
        click.echo(json.dumps(evaluation_table.as_json(cases, verdict, skipped)))
        return
    affinities = len(judged.placed_by("affinity").affinity.names)
    title = f"{wanted.machine}: ms of the region of interest; oracle of {affinities} affinities"
    print_table(evaluation_table.table(cases, title))
    for sentence in evaluation_table.sentences(verdict):
        click.echo(sentence)
    for missed in skipped:
        click.echo(
            f"left out: {missed.workload.program}, {missed.workload.threads} threads: "
            f"{missed.reason}",
            err=True,
        )


def _says_how_to_profile() -> bool:
    """Whether the command line has an option of profiling that the shipped observations fix."""
    context = click.get_current_context()
    given = (
        *("latencies", "page_size", "suite_path", "size", "affinities", "period_us", "draw_seed"),
        *("page_seeds", "jobs", "work"),
    )
    return any(
        context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        for name in given
    )


def _counts(table: ObservationTable) -> str:
    """Thread counts of the runs: `4,8,16`."""
    return ",".join(map(str, sorted(set(table.threads.tolist()))))


def _not_run(judged: ObservationTable, wanted: Wanted) -> list[Skipped]:
    """Programs of the suite that have no runs with a thread count, and why."""
    from autofinity.evaluation.judge import Skipped
    from autofinity.model.observation import Workload

    seen = set(zip(judged.program.text(), judged.threads.tolist(), strict=True))
    missing = []
    for spec in wanted.suite.pick(wanted.programs):
        for threads in wanted.threads:
            if (spec.name, threads) in seen:
                continue
            reason = f"was not profiled with {threads} threads"
            if not spec.threads.allows(threads):
                reason = f"does not run with {threads} threads (allowed: {spec.threads})"
            missing.append(Skipped(Workload(spec.name, wanted.size, threads), reason))
    return missing


def _recorded(path: Path, wanted: Wanted) -> ObservationTable:
    """Observations from a file, of the programs wanted. Raises `StoreError`, `SuiteError`."""
    import numpy as np

    from autofinity.store.observations import read

    table = read(path)
    if not wanted.programs:
        return table
    return table.take(np.isin(table.program.text(), wanted.programs))


def _left_out(
    judged: ObservationTable,
    wanted: Wanted,
    train_threads: str,
    settings: LearningSettings,
    source: ObservationTable | None,
) -> Learn:
    """Learns from every program but one, at the training thread counts.

    `source` is what there is to learn from when nothing may be profiled.
    """
    import numpy as np

    from autofinity.evaluation.left_out import leaving_out

    counts = thread_counts(train_threads)
    table = source if source is not None else judged
    if source is None and any(count not in wanted.threads for count in counts):
        table = gather(replace(wanted, threads=counts))
    table = table.take(np.isin(table.threads, counts))
    return leaving_out(table, lambda others: learn(others, wanted, settings).policy)


def _given(path: Path) -> Learn:
    from autofinity.policy import files

    policy = files.load(path)
    return lambda program: policy
