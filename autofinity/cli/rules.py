"""`autofinity rules`: from observations or an action table to a policy."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import learning_options, machine_option
from autofinity.cli.options.output import output_option
from autofinity.cli.options.profiling import thread_counts
from autofinity.cli.printer import hand_over, say, say_wrapped
from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import UsageError


@click.command(
    cls=Command,
    more=(
        "--labels --features --selection --metric --discretisation --bins --bin-number "
        "--condense --leeway --probe --other-counts --most-rules --seed"
    ),
)
@click.argument("source", metavar="OBS|TABLE", type=click.Path(path_type=Path))
@machine_option
@learning_options("rules")
@click.option(
    "--threads",
    "-t",
    default=None,
    help="Learn only from these thread counts, such as 8 or 4,8.  [default: all observed]",
)
@output_option("Save the policy to this file (JSON).")
@json_option
def command(
    source: Path,
    machine: str | None,
    settings: LearningSettings,
    threads: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Learn rules from observations, or from a table that `autofinity table` saved.

    OBS is what `profile` kept: its folder, or a Parquet file.

    With --machine any, a folder with one file per machine gives one policy for any machine.

    With a table, only --learner and --seed have an effect.
    """
    from autofinity.store.observation_files import observation_files

    observation_files(source)  # a wrong path is refused before the slow imports
    from autofinity.learning import table_file
    from autofinity.policy import files
    from autofinity.policy.readable import policy_text
    from autofinity.workflow.observations import ANY
    from autofinity.workflow.several_machines import rules_of_machines
    from autofinity.workflow.train import rules_of_observations, rules_of_table

    if machine == ANY:
        if threads is not None:
            raise UsageError(
                "--threads: a policy for any machine is learned from all thread counts; expected "
                "no --threads"
            )
        policy = rules_of_machines(source, settings).policy
    elif table_file.is_table(source):
        policy, _ = rules_of_table(source, settings)
    else:
        counts = thread_counts(threads) if threads is not None else ()
        policy, _ = rules_of_observations(source, settings, machine=machine, threads=counts)
    if output is not None:
        files.save(policy, output)
        say(f"policy kept in {output}", err=True)
    if as_json:
        hand_over(files.dumps(policy))
        return
    say_wrapped(*policy_text(policy).splitlines())
