"""`autofinity rules`: from observations or an action table to a policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import (
    learning_options,
    machine_of,
    machine_option,
    matches_for,
)
from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import LearningError

if TYPE_CHECKING:
    from autofinity.model.policy import RulePolicy


@click.command()
@click.argument("source", metavar="OBS|TABLE", type=click.Path(path_type=Path))
@machine_option
@learning_options("rules")
@click.option(
    "--threads",
    default=None,
    help="Learn from these thread counts only, such as 8 or 4,8.  [default: all observed]",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the policy here (JSON).",
)
@json_option
def command(
    source: Path,
    machine: str | None,
    settings: LearningSettings,
    threads: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Learn rules from a folder of observations, or from a table that `autofinity table` kept.

    From a table only --learner, --bin-type, --weighting and --learn-seed matter: the rest is done
    already.
    """
    from autofinity.learning import table_file
    from autofinity.policy import files
    from autofinity.policy.readable import policy_text

    if table_file.is_table(source):
        policy, notes = _from_table(source, settings)
    else:
        policy, notes = _from_observations(source, machine, threads, settings)
    if output is not None:
        files.save(policy, output)
        click.echo(f"policy kept in {output}", err=True)
    if as_json:
        click.echo(files.dumps(policy), nl=False)
        return
    click.echo(policy_text(policy), nl=False)
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _from_table(source: Path, settings: LearningSettings) -> tuple[RulePolicy, tuple[str, ...]]:
    from autofinity import __version__
    from autofinity.learning import table_file
    from autofinity.learning.pipeline import learn_rules

    table, provenance = table_file.load(source)
    policy = learn_rules(table, settings)
    made_of = {
        **provenance,
        "autofinity": __version__,
        "action_table_rows": len(table),
        "rules": {
            "learner": settings.learner,
            "bin_type": settings.bin_type,
            "weighting": settings.weighting,
            "seed": settings.seed,
        },
    }
    notes = () if policy.rules else (f"no rule: the policy always says {policy.default}",)
    return replace(policy, provenance=made_of), notes


def _from_observations(
    source: Path, machine: str | None, threads: str | None, settings: LearningSettings
) -> tuple[RulePolicy, tuple[str, ...]]:
    import numpy as np

    from autofinity import __version__
    from autofinity.cli.options.profiling import thread_counts
    from autofinity.learning.leeway_hints import hints_on
    from autofinity.learning.pipeline import learn_policy
    from autofinity.store.observations import read

    seen = read(source)
    if threads is not None:
        there = ", ".join(map(str, sorted(set(seen.threads.tolist())))) or "none"
        seen = seen.take(np.isin(seen.threads, thread_counts(threads)))
        if not len(seen):
            raise LearningError(f"no observation with {threads} threads; there are {there}")
    provenance = {
        "machine": machine_of(seen),
        "threads": sorted(set(seen.threads.tolist())),
        "autofinity": __version__,
    }
    matches = matches_for(seen, machine)
    hints_of = hints_on(matches, settings.leeway)
    learned = learn_policy(seen, settings, hints_of, provenance, matches)
    return learned.policy, learned.notes
