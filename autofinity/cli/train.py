"""`autofinity train`: the whole way from a suite of programs to a policy for a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from autofinity.cli.help import Command
from autofinity.cli.interruption import keeps_results
from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import learning_options
from autofinity.cli.options.output import output_option
from autofinity.cli.options.profiling import (
    ProfilingOptions,
    profiling_options,
    thread_counts,
    wanted_by_options,
)
from autofinity.cli.printer import hand_over, say, say_wrapped
from autofinity.cli.progress import Terminal
from autofinity.learning.settings import LearningSettings


@click.command(
    "train",
    cls=Command,
    more="--latencies --page-size --affinities --period --work --metric --features --k",
)
@profiling_options
@click.option(
    "--threads", "-t", default="8", show_default=True, help="Thread counts, such as 8 or 4,8."
)
@learning_options("train")
@output_option("File for the policy (JSON).", required=True)
@json_option
def command(
    threads: str,
    output: Path,
    as_json: bool,
    settings: LearningSettings,
    **options: Unpack[ProfilingOptions],
) -> None:
    """Learn a policy for a machine from a suite of programs.

    Capture missing traces, replay them in the selected affinities, choose counters, cut counters
    into bins, build the action table and learn rules. An interrupted command resumes when it is
    called again. The steps are also commands, with more options: `profile -o OBS`, then `rules
    OBS`.
    """
    from autofinity.policy import files
    from autofinity.policy.readable import policy_text
    from autofinity.workflow.train import train

    wanted = wanted_by_options(options, thread_counts(threads))
    keeps_results()
    learned = train(wanted, settings, Terminal())
    files.save(learned.policy, output)
    if as_json:
        hand_over(files.dumps(learned.policy))
        return
    say_wrapped(*policy_text(learned.policy).splitlines())
    say(f"policy kept in {output}", err=True)
