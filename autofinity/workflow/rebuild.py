"""Learns the user's policy again from recorded runs.

behaviour database ─► own runs ─┬─► learn_policy (settings of the present policy) ─► policy.json
observations of this machine ───┘                                          of the user

The runs may be those of many hosts of one kind, from a site's database (`site_policies`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity import __version__
from autofinity.model.errors import LearningError, UsageError
from autofinity.new_folder import make_missing
from autofinity.private_file import locked
from autofinity.runtime.policies import chosen_policy, digest_of, user_policy
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import default_path, refuse_foreign
from autofinity.store.rebuild_mark import RebuildMark

if TYPE_CHECKING:
    from autofinity.learning.own_runs import OwnRuns
    from autofinity.learning.pipeline import LearnedPolicy
    from autofinity.learning.settings import LearningSettings
    from autofinity.model.observation import Observation
    from autofinity.model.policy import RulePolicy
    from autofinity.model.topology import Topology
    from autofinity.store.behaviour_rows import LiveObservation

HOST = "host"
"""Name of the present machine in observations and policies."""
MACHINE_TEXT = "machine_text"
"""Key of the provenance of a policy: the kind of machine that its runs were made on."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The new policy, and the data that it was learned from."""

    learned: LearnedPolicy
    own: OwnRuns
    joined: int
    """Number of observations from elsewhere that were used for learning, too."""
    notes: tuple[str, ...]
    old: Path | None
    """Path of the policy whose settings and counters were kept."""
    old_digest: str | None
    """Digest of that policy's file, as it was: the new policy may have replaced it."""
    target: Path
    """Path of the new policy, whether it was written or not."""
    digest: str | None
    """Digest of the file that was written; None: nothing was written."""


@dataclass(frozen=True, slots=True)
class NotRebuilt:
    """No rebuild was made, with the reason."""

    reason: str


def rebuild(
    *,
    database: Path | None = None,
    policy: str | Path | None = None,
    observations: Path | None = None,
    output: Path | None = None,
    if_due: bool = False,
    dry_run: bool = False,
) -> Rebuilt | NotRebuilt:
    """Learn from the runs in the behaviour database, by default the one in the state folder.

    Settings and counters are those of `policy`, by default of the policy that runs ask. The new
    policy is written to `output`, by default to the file where runs look first. `observations` are
    those that `policy` was learned from, by default the shipped ones of its machine; they are used
    as well when they are of this machine. With `if_due`, a policy is learned only when the usable
    rows have grown by a fifth; with `dry_run` nothing is written.

    Raises `LearningError`, with the reason, when nothing can be learned; `UsageError` without a
    configuration folder; `StoreError` for a database that is not this user's alone.
    """
    path = database or default_path()
    target = output or user_policy()
    if target is None:
        raise UsageError("no configuration folder: set XDG_CONFIG_HOME or HOME, or give --output")
    if not path.exists():
        if if_due:
            return NotRebuilt(f"there is no behaviour database at {path}")
        raise LearningError(
            f"there is no behaviour database at {path}: nothing has been run yet; start programs "
            "with `autofinity run`"
        )
    refuse_foreign(path)
    with _alone(path), BehaviourDB.open(path) as opened:
        if if_due and not RebuildMark(opened.session).due():
            return NotRebuilt("not due: too few new rows to learn from")
        chosen = chosen_policy(None if policy is None else str(policy))
        old = chosen.path if chosen else None
        try:
            made = learned(
                opened.observations(),
                opened.damaged,
                whole_machine_here(),
                old,
                observations,
                target,
            )
        except LearningError:
            if if_due and not dry_run:
                # This was an attempt: the next waits for another fifth.
                RebuildMark(opened.session).set()
            raise
        if dry_run:
            return made
        made = written(made)
        RebuildMark(opened.session).set()
        return made


def written(made: Rebuilt) -> Rebuilt:
    """Write the new policy to its target. Raises `OSError`."""
    from autofinity.policy import files

    make_missing(made.target.parent)
    files.save(made.learned.policy, made.target)
    return replace(made, digest=digest_of(made.target))


def learned(
    rows: Sequence[LiveObservation],
    damaged: Sequence[str],
    topology: Topology,
    old: Path | None,
    observations: Path | None,
    target: Path,
) -> Rebuilt:
    """Learn from the rows of one kind of machine; nothing is written. Raises `LearningError`."""
    from autofinity.affinity.best_matches import BestMatches
    from autofinity.learning.leeway_hints import hints_on
    from autofinity.learning.own_runs import own_runs
    from autofinity.learning.pipeline import learn_policy
    from autofinity.policy.files import load
    from autofinity.runtime.machine_text import machine_text
    from autofinity.store.observations import table_of

    present = load(old) if old else None
    machine = machine_text(topology)
    settings = _settings(present)
    counters = present.counters if present else ()
    own = own_runs(rows, counters, machine, HOST, __version__)
    notes = [own.left_out] if own.left_out else []
    notes += [f"damaged, and left out: {row}" for row in damaged]
    others, note = _of_this_machine(observations or _shipped(present))
    notes += [note] if note else []
    if not own.observations or (not others and own.too_few):
        raise LearningError(
            "nothing can be learned from the runs so far: "
            + "; ".join([own.too_few or "no learnable row", *notes])
            + ". Run more programs with `autofinity run` where hardware counters work "
            "(`autofinity doctor`)"
        )
    matches = BestMatches(topology)
    old_digest = digest_of(old) if old else None
    made = learn_policy(
        table_of([*others, *own.observations]),
        settings,
        hints_on(matches, settings.leeway),
        {
            "machine": HOST,
            "model": topology.model,
            MACHINE_TEXT: machine,
            "autofinity": __version__,
            "rebuilt_from": old_digest,
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
    return Rebuilt(made, own, len(others), tuple(notes), old, old_digest, target, None)


def whole_machine_here() -> Topology:
    """The machine as a run's monitor sees it (AUTOFINITY_SYSFS included), but all of it.

    Affinities are classes on the machine, whatever CPUs this process is confined to.
    """
    from autofinity.linux.online import sysfs_root, whole_machine
    from autofinity.linux.sysfs_topology import read_sysfs

    root = sysfs_root()
    return read_sysfs(root, allowed=whole_machine(root))


def _of_this_machine(source: Path | None) -> tuple[list[Observation], str]:
    """Observations of this machine, or a note with the reason why they are not used."""
    from autofinity.store.observations import read

    if source is None:
        return [], ""
    table = read(source)
    if table.machine.names and {table.machine.names[c] for c in table.machine.codes} == {HOST}:
        return list(table.observations()), ""
    of = ", ".join(name[:60] for name in table.machine.names[:4])
    return [], f"{source} is of {of}, not of this machine: it is not used for training"


def _settings(present: RulePolicy | None) -> LearningSettings:
    """The present policy's settings, with the inputs of its rules, which runs have measured."""
    from autofinity.learning.settings import PAPER, LearningSettings

    if present is None:
        return LearningSettings(features="both")  # runs measure all counters of the machine
    kept = present.provenance.get("settings")
    known = LearningSettings.__dataclass_fields__
    given = {
        name: value
        for name, value in (kept.items() if isinstance(kept, Mapping) else ())
        if name in known
    }
    given["counters"] = tuple(present.cut_points) or None
    try:
        # Settings that a policy of an earlier version lacks were those of the paper.
        return replace(PAPER, **given)
    except (UsageError, TypeError) as error:
        raise LearningError(
            f"the settings in the present policy's provenance cannot be used: {error}; name "
            "another policy with --policy"
        ) from error


def _shipped(present: RulePolicy | None) -> Path | None:
    """Shipped observations of the machine that the policy is for; None when there are none."""
    from autofinity.workflow.observations import shipped_observations

    machine = present.provenance.get("machine") if present else None
    return shipped_observations(machine) if isinstance(machine, str) else None


@contextmanager
def _alone(db: Path) -> Iterator[None]:
    """Lock that allows one rebuild at a time for a database. Raises `LearningError` during another
    rebuild.
    """
    with locked(db.with_name("rebuild.lock")) as ours:
        if not ours:
            raise LearningError("another rebuild is running; wait until it ends")
        yield
