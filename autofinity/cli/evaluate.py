"""`autofinity evaluate`: judge a policy on programs it has not seen."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from autofinity.cli.campaign import Wanted, gather
from autofinity.cli.campaign_options import (
    CampaignOptions,
    campaign_options,
    thread_counts,
    wanted_of,
)
from autofinity.cli.json_option import json_option
from autofinity.cli.learning_options import learning_options
from autofinity.cli.progress import progress
from autofinity.cli.train import learn
from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import Affinity, Hint

if TYPE_CHECKING:
    from autofinity.evaluation.judge import Learn, Match
    from autofinity.store.observation_table import ObservationTable


@click.command("evaluate")
@campaign_options
@learning_options("rules")
@click.option("--threads", default="8", show_default=True, help="Judge at these thread counts.")
@click.option(
    "--train-threads",
    default="8",
    show_default=True,
    help="Learn from these thread counts only, as the paper does.",
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
@json_option
def command(
    threads: str,
    train_threads: str,
    policy: Path | None,
    observations: Path | None,
    samples: int,
    as_json: bool,
    settings: LearningSettings,
    **options: Unpack[CampaignOptions],
) -> None:
    """Judge a policy on programs it has not seen.

    Each program is left out in turn: a policy is learned from the others, shown what it did in
    the distributed affinity, and the program runs again in the chosen affinity. Beside it stand
    packed, distributed, the best of the eight hints and the oracle (the best affinity profiled).
    """
    from autofinity.evaluation.cases import summarise
    from autofinity.evaluation.judge import judge
    from autofinity.report import evaluation_table

    wanted = wanted_of(options, threads)
    judged = _recorded(observations, wanted) if observations else gather(wanted)
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
            _matches(wanted.machine),
            settings.warmup,
            samples,
            lambda subject: bar.step(subject.program),
        )
    summary = summarise(cases)
    if as_json:
        document = evaluation_table.as_json(cases, summary)
        document["skipped"] = [
            {"program": s.subject.program, "threads": s.subject.threads, "reason": s.reason}
            for s in skipped
        ]
        click.echo(json.dumps(document))
        return
    from rich.console import Console

    affinities = len(set(judged.affinity.names))
    title = f"{wanted.machine}: ms of the region of interest; oracle of {affinities} affinities"
    console = Console()
    console.print(evaluation_table.table(cases, title))
    for sentence in evaluation_table.sentences(summary):
        click.echo(sentence)
    for missed in skipped:
        click.echo(
            f"left out: {missed.subject.program}, {missed.subject.threads} threads: "
            f"{missed.reason}",
            err=True,
        )


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


def _matches(machine: str) -> Match:
    """GETAFFINITY's class on the machine."""
    from autofinity.affinity.hints import get_affinity
    from autofinity.cli.backends import machine_topology

    topology = machine_topology(machine)

    @functools.cache
    def match(threads: int, hint: Hint) -> Affinity:
        return get_affinity(topology, threads, hint).affinity

    return match
