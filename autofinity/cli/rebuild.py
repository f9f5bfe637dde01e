"""`autofinity rebuild`: the user's policy, retrained from recorded runs."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.output import output_option
from autofinity.cli.printer import say, say_json
from autofinity.workflow.rebuild import NotRebuilt, Rebuilt, rebuild


@click.command(cls=Command)
@click.option(
    "--observations",
    type=click.Path(path_type=Path),
    help="Add these observations, from which the present policy was learned, if they are of this "
    "machine.  [default: the shipped ones of its machine, if any]",
)
@click.option(
    "--policy",
    metavar="POLICY",
    help="Present policy (a file, or the name of a shipped one); its settings and counters are "
    "kept.  [default: the policy that runs use]",
)
@click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Behaviour database.  [default: in the state folder]",
)
@output_option(
    "File for the new policy.  [default: autofinity/policy.json in the configuration folder, "
    "which runs prefer to the shipped policy]"
)
@click.option(
    "--if-due",
    is_flag=True,
    help="Retrain only if the observations with hardware counters have grown by a fifth or more.",
)
@click.option("--dry-run", is_flag=True, help="Train and report, but write nothing.")
@json_option
def command(
    observations: Path | None,
    policy: str | None,
    db: Path | None,
    output: Path | None,
    if_due: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Retrain the user's policy from runs that `autofinity run` recorded on this machine.

    Training uses runs with hardware counters, and the settings and counters of the present policy.
    The hint that the old policy gave a program is dropped at the program's next run.
    """
    made = rebuild(
        database=db,
        policy=policy,
        observations=observations,
        output=output,
        if_due=if_due,
        dry_run=dry_run,
    )
    if as_json:
        say_json(_document(made), indent=2)
    elif isinstance(made, NotRebuilt):
        say(f"the policy was not retrained: {made.reason}")
    else:
        _print(made)


def _document(made: Rebuilt | NotRebuilt) -> dict[str, object]:
    if isinstance(made, NotRebuilt):
        return {"rebuilt": False, "reason": made.reason}
    return {
        "rebuilt": made.digest is not None,
        "reason": _reason(made),
        "policy": str(made.target),
        "digest": made.digest,
        "old_policy": str(made.old) if made.old else None,
        "old_digest": made.old_digest,
        "own_rows": len(made.own.observations),
        "rows_without_counters": made.own.without_counters,
        "rows_without_the_policys_counters": made.own.other_counters,
        "rows_of_other_machines": made.own.other_machine,
        "joined_rows": made.joined,
        "rules": len(made.learned.policy.rules),
        "default": str(made.learned.policy.default),
        "notes": _notes(made),
    }


def _reason(made: Rebuilt) -> str:
    return "dry run: nothing is written" if made.digest is None else "retrained"


def _notes(made: Rebuilt) -> list[str]:
    return [*made.notes, *made.learned.notes]


def _print(made: Rebuilt) -> None:
    policy = made.learned.policy
    say(
        f"{_reason(made)}: {len(policy.rules)} rules, default {policy.default.shown}, from "
        f"{len(made.own.observations)} rows of own runs and {made.joined} other observations"
    )
    for note in _notes(made):
        say(f"note: {note}", err=True)
    if made.digest is not None:
        say(f"policy kept in {made.target}; runs without --policy use it")
