"""`autofinity rebuild`: the user's policy, learned anew from what runs have shown.

behaviour database ─► own runs ─┬─► learn_policy (settings of the present policy) ─► policy.json
observations of this machine ───┘                                          of the user
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.options.json import json_option
from autofinity.cli.shipped_observations import shipped_observations
from autofinity.model.errors import LearningError, UsageError
from autofinity.runtime.policies import default_policy, digest_of, user_policy
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import default_path

if TYPE_CHECKING:
    from autofinity.learning.own_runs import OwnRuns
    from autofinity.learning.pipeline import LearnedPolicy
    from autofinity.learning.settings import LearningSettings
    from autofinity.model.policy import RulePolicy

HOST = "host"
"""Name of the machine this runs on, in observations and policies."""

_MOST_CPUS = 65_536  # as many as the launcher knows


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What came of it."""

    learned: LearnedPolicy
    own: OwnRuns
    joined: int
    """Observations from elsewhere that were learned from, too."""
    notes: tuple[str, ...]


@click.command()
@click.option(
    "--observations",
    type=click.Path(path_type=Path),
    help="Observations the present policy was learned from; used when they are of this machine.  "
    "[default: the shipped ones of its machine, if there are any]",
)
@click.option(
    "--policy",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Present policy, whose settings and counters are kept.  [default: the one runs ask]",
)
@click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Behaviour database.  [default: the one in the state folder]",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The new policy.  [default: autofinity/policy.json in the configuration folder, which "
    "runs ask before the shipped one]",
)
@click.option(
    "--if-due", is_flag=True, help="Only when the learnable rows have grown by a fifth or more."
)
@click.option("--dry-run", is_flag=True, help="Learn and say, write nothing.")
@json_option
def command(
    observations: Path | None,
    policy: Path | None,
    db: Path | None,
    output: Path | None,
    if_due: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Learn the user's policy anew from what `autofinity run` has measured on this machine.

    Runs with hardware counters are learned from, by the settings and the counters of the present
    policy. Hints of the old policy are dropped when their programs run next.
    """
    path = db or default_path()
    target = output or user_policy()
    if target is None:
        raise UsageError("no configuration folder: set XDG_CONFIG_HOME or HOME, or give --output")
    if not path.exists():
        if not if_due:
            raise LearningError(
                f"there is no behaviour database at {path}: nothing has been run yet; start "
                "programs with `autofinity run`"
            )
        _say(as_json, {"rebuilt": False, "reason": f"there is no behaviour database at {path}"})
        return
    with _alone(path), BehaviourDB.open(path) as database:
        if if_due and not database.rebuild_due():
            _say(as_json, {"rebuilt": False, "reason": "not due: too little new to learn from"})
            return
        old = policy or default_policy()
        try:
            made = _rebuild(database, old, observations)
        except LearningError:
            if if_due and not dry_run:
                database.mark_built()  # tried: the next attempt waits for another fifth
            raise
        document = _document(made, old, target, dry_run)
        if not dry_run:
            from autofinity.policy import files

            target.parent.mkdir(parents=True, exist_ok=True)
            files.save(made.learned.policy, target)
            database.mark_built()
            document["digest"] = digest_of(target)
    _say(as_json, document)


def _rebuild(database: BehaviourDB, old: Path | None, observations: Path | None) -> Rebuilt:
    """Learn from what there is. Raises `LearningError` saying why nothing can be learned."""
    from autofinity import __version__
    from autofinity.affinity.best_matches import BestMatches
    from autofinity.learning.leeway_hints import hints_on
    from autofinity.learning.own_runs import own_runs
    from autofinity.learning.pipeline import learn_policy
    from autofinity.linux.sysfs_topology import read_sysfs
    from autofinity.policy.files import load
    from autofinity.runtime.machine_text import machine_text
    from autofinity.store.observations import read, table_of

    present = load(old) if old else None
    # The machine as a run's monitor sees it (AUTOFINITY_SYSFS included), but all of it: affinities
    # are classes on the machine, whatever this process happens to be confined to.
    root = os.environ.get("AUTOFINITY_SYSFS", "/sys")
    topology = read_sysfs(root, allowed=frozenset(range(_MOST_CPUS)))
    settings = _settings(present)
    rows = database.observations()
    counters = present.counters if present else ()
    own = own_runs(rows, counters, machine_text(topology), HOST, __version__)
    notes = [own.left_out] if own.left_out else []
    source = observations or _shipped(present)
    others = []
    if source is not None:
        table = read(source)
        if table.machine.names and {table.machine.names[c] for c in table.machine.codes} == {HOST}:
            others = list(table.observations())
        else:
            of = ", ".join(table.machine.names)
            notes.append(f"{source} is of {of}, not of this machine: it is not learned from")
    if not own.observations or (not others and own.too_few):
        raise LearningError(
            "nothing can be learned from the runs so far: "
            + "; ".join([own.too_few or "no learnable row", *notes])
            + ". Run more programs with `autofinity run` where hardware counters work "
            "(`autofinity doctor`)"
        )
    matches = BestMatches(topology)
    made = learn_policy(
        table_of([*others, *own.observations]),
        settings,
        hints_on(matches, settings.leeway),
        {
            "machine": HOST,
            "model": topology.model,
            "autofinity": __version__,
            "rebuilt_from": digest_of(old) if old else None,
            "own_rows": len(own.observations),
        },
        matches,
    )
    if len(made.table) == 0:
        raise LearningError(
            "nothing can be learned from the runs so far: "
            + "; ".join([*made.notes, *notes])
            + ". The present policy is kept"
        )
    return Rebuilt(made, own, len(others), tuple(notes))


def _settings(present: RulePolicy | None) -> LearningSettings:
    """The present policy's settings, with what its rules look at: runs have measured that."""
    from autofinity.learning.settings import PAPER, LearningSettings

    if present is None:
        return LearningSettings(features="both")  # runs measure what the machine has
    kept = present.provenance.get("settings")
    known = LearningSettings.__dataclass_fields__
    given = {
        name: value
        for name, value in (kept.items() if isinstance(kept, Mapping) else ())
        if name in known
    }
    given["counters"] = tuple(present.cut_points) or None
    try:
        # What a policy of an earlier version does not say was as in the paper.
        return replace(PAPER, **given)
    except (UsageError, TypeError) as error:
        raise LearningError(
            f"the settings in the present policy's provenance cannot be used: {error}; name "
            "another policy with --policy"
        ) from error


def _shipped(present: RulePolicy | None) -> Path | None:
    """Shipped observations of the machine the policy is for; None when there are none."""
    machine = present.provenance.get("machine") if present else None
    return shipped_observations(machine) if isinstance(machine, str) else None


@contextmanager
def _alone(db: Path) -> Iterator[None]:
    """One rebuild at a time for a database. Raises `LearningError` when another is under way."""
    with db.with_name("rebuild.lock").open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LearningError("another rebuild is under way; wait for it to end") from None
        yield


def _document(made: Rebuilt, old: Path | None, target: Path, dry_run: bool) -> dict[str, object]:
    return {
        "rebuilt": not dry_run,
        "reason": "dry run: nothing is written" if dry_run else "learned anew",
        "policy": str(target),
        "digest": None,
        "old_policy": str(old) if old else None,
        "old_digest": digest_of(old) if old else None,
        "own_rows": len(made.own.observations),
        "rows_without_counters": made.own.without_counters,
        "rows_without_the_policys_counters": made.own.other_counters,
        "rows_of_other_machines": made.own.other_machine,
        "joined_rows": made.joined,
        "rules": len(made.learned.policy.rules),
        "default": str(made.learned.policy.default),
        "notes": [*made.notes, *made.learned.notes],
    }


def _say(as_json: bool, document: dict[str, object]) -> None:
    if as_json:
        click.echo(json.dumps(document, indent=2))
        return
    if "policy" not in document:
        click.echo(f"nothing was done: {document['reason']}")
        return
    click.echo(
        f"{document['reason']}: {document['rules']} rules, default {document['default']}, from "
        f"{document['own_rows']} rows of own runs and {document['joined_rows']} other observations"
    )
    notes = document["notes"]
    assert isinstance(notes, list)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    if document["rebuilt"]:
        click.echo(f"policy kept in {document['policy']}; runs that name no policy ask it")
