"""`autofinity rebuild`: the user's policy, retrained from recorded runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.output import output_option
from autofinity.cli.options.site import refuse_other_url
from autofinity.cli.printer import say, say_json
from autofinity.foreign_text import one_line
from autofinity.model.errors import UsageError
from autofinity.runtime.policies import user_policy
from autofinity.store.site_address import EXPECTED, is_site
from autofinity.workflow.rebuild import NotRebuilt, Rebuilt, rebuild

if TYPE_CHECKING:
    from autofinity.workflow.site_policies import SiteRebuilt


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
    metavar="FILE|URL",
    help="Behaviour database; the URL of a site's database (postgresql://…), to learn from the "
    "runs of all its hosts.  [default: in the state folder]",
)
@click.option(
    "--each-machine",
    is_flag=True,
    help="Learn a policy for each kind of machine in the site's database, and write one file each "
    "into the folder that -o names.",
)
@output_option(
    "File for the new policy.  [default: autofinity/policy.json in the configuration folder, "
    "which runs prefer to the shipped policy]",
    folder=True,
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
    db: str | None,
    each_machine: bool,
    output: Path | None,
    if_due: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Retrain the user's policy from runs that `autofinity run` recorded on this machine, or on all
    machines of its kind at a site.

    Training uses runs with hardware counters, and the settings and counters of the present policy.
    The hint that the old policy gave a program is dropped at the program's next run.
    """
    if db is not None:
        refuse_other_url(db)
    if each_machine or (db is not None and is_site(db)):
        _for_site(db, each_machine, output, observations, policy, if_due, dry_run, as_json)
        return
    made = rebuild(
        database=None if db is None else Path(db),
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


def _for_site(
    url: str | None,
    each_machine: bool,
    output: Path | None,
    observations: Path | None,
    policy: str | None,
    if_due: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Learn from a site's database: for this machine, or for each kind of machine there."""
    if url is None or not is_site(url):
        raise UsageError(f"--each-machine is for a site's database; expected --db {EXPECTED}")
    if observations is not None or if_due:
        raise UsageError(
            "a site's policy is learned from its database alone; expected --db URL without "
            "--observations and --if-due"
        )
    target = output or (None if each_machine else user_policy())
    if target is None:
        raise UsageError("expected -o: the folder of the site's policies, or the file of this one")
    from autofinity.workflow.site_policies import rebuild_each, rebuild_here

    if not each_machine:
        made = rebuild_here(url, target, policy=policy, dry_run=dry_run)
        if as_json:
            say_json(_document(made), indent=2)
        else:
            _print(made)
        return
    every = []
    for each in rebuild_each(url, target, policy=policy, dry_run=dry_run):
        every.append(each)
        if not as_json:
            say(one_line(f"{each.machine}: {_in_short(each)}"))
    if as_json:
        say_json(
            [
                {"machine": each.machine} | _document(each.made or NotRebuilt(each.reason))
                for each in every
            ],
            indent=2,
        )
    elif not every:
        say("no run in the site's database says on which machine it was made")


def _in_short(each: SiteRebuilt) -> str:
    if each.made is None:
        return f"no policy: {each.reason}"
    policy, rows = each.made.learned.policy, len(each.made.own.observations)
    kept = f" in {each.made.target}" if each.made.digest else ", not written"
    return f"{len(policy.rules)} rules, default {policy.default.shown}, from {rows} rows{kept}"


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
        own = made.target == user_policy()
        say(f"policy kept in {made.target}" + "; runs without --policy use it" * own)
