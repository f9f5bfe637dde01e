"""`autofinity train`: the whole way from a suite of programs to a policy for a machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from autofinity import __version__
from autofinity.cli.campaign import Wanted, gather
from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import learning_options, matches_for
from autofinity.cli.options.profiling import (
    ProfilingOptions,
    profiling_options,
    wanted_of,
)
from autofinity.learning.settings import LearningSettings

if TYPE_CHECKING:
    from autofinity.learning.pipeline import LearnedPolicy
    from autofinity.store.observation_table import ObservationTable


@click.command("train")
@profiling_options
@learning_options("rules")
@click.option("--threads", default="8", show_default=True, help="Thread counts, such as 8 or 4,8.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The policy (JSON).",
)
@json_option
def command(
    threads: str,
    output: Path,
    as_json: bool,
    settings: LearningSettings,
    **options: Unpack[ProfilingOptions],
) -> None:
    """Learn a policy for a machine from a suite of programs.

    Captures what is not captured yet, replays it in the selected affinities, chooses counters, cuts
    them into bins, builds the action table and learns rules. Interrupt it when you like: the same
    command goes on where it stopped.
    """
    from autofinity.policy import files
    from autofinity.policy.readable import policy_text

    wanted = wanted_of(options, threads)
    learned = learn(gather(wanted), wanted, settings)
    files.save(learned.policy, output)
    if as_json:
        click.echo(files.dumps(learned.policy), nl=False)
        return
    click.echo(policy_text(learned.policy), nl=False)
    for note in learned.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"policy kept in {output}", err=True)


def learn(table: ObservationTable, wanted: Wanted, settings: LearningSettings) -> LearnedPolicy:
    """The policy of these observations, with what it was made of."""
    from autofinity.learning.leeway_hints import hints_on
    from autofinity.learning.pipeline import learn_policy

    matches = matches_for(table, wanted.machine)
    return learn_policy(
        table,
        settings,
        hints_on(matches, settings.leeway),
        {
            "machine": wanted.machine,
            "suite": wanted.suite.name,
            "size": wanted.size,
            "threads": sorted(set(table.threads.tolist())),
            "autofinity": __version__,
        },
        matches,
    )
