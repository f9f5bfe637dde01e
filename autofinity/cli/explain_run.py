"""`autofinity explain RUN`: why the threads of a run are where they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from autofinity.linux.cpu_lists import parse_cpu_list
from autofinity.linux.pins import PIN_VARIABLES, other_pins
from autofinity.linux.proc import environment_of
from autofinity.model.errors import AutofinityError, StoreError, UsageError
from autofinity.model.policy import RulePolicy
from autofinity.runtime.claims import live_runs, process_of
from autofinity.runtime.policies import digest_of
from autofinity.runtime.threads_now import ThreadNow, threads_now
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord

LAST = "last"


@dataclass(frozen=True, slots=True)
class _Found:
    run: RunRecord
    alive: bool
    sample: Mapping[str, float]
    """What its hint was decided by, in this run or in the one that it is known from."""
    known: bool
    """Whether the hint was known when it began."""
    threads: tuple[ThreadNow, ...]
    others: tuple[str, ...]
    """Who else says where it runs, one line each."""


def names_run(text: str) -> bool:
    """Whether `explain`'s argument is a run and no policy: a number, or `last`."""
    return text == LAST or (text.isascii() and text.isdigit())


def explain_run(text: str, db: Path, *, as_json: bool) -> None:
    """Print the explanation of run `text`. Raises `StoreError`, `UsageError`."""
    found = _find(text, db)
    policy, trouble = _policy_of(found.run)
    if as_json:
        click.echo(json.dumps(_document(found, policy, trouble), indent=2))
        return
    run = found.run
    state = f"running, {run.phase or 'starting'}" if found.alive else "ended"
    click.echo(f"run {run.id}: {run.path}, pid {run.pid}, {state}, {run.threads or '?'} threads")
    click.echo(f"policy: {run.policy_path or 'none'}; measured by {run.tier}")
    if run.hint is None:
        click.echo("nothing was decided yet" if found.alive else "nothing was decided")
    elif policy is None:
        click.echo(f"{run.hint}: {trouble}")
    else:
        _tell_decision(found, policy)
    for line in run.notes.splitlines():
        click.echo(f"note: {line}")
    if run.cpus:
        click.echo(f"claims CPUs {run.cpus}; began with {run.allowed}")
    for line in found.others:
        click.echo(f"who else pins: {line}")
    authors = {"autofinity": "by autofinity", "nobody": "as it began", "others": "pinned by others"}
    for thread in found.threads:
        click.echo(
            f"thread {thread.tid} {thread.name}: CPUs {thread.cpus} ({authors[thread.author]})"
        )


def _find(text: str, db: Path) -> _Found:
    with BehaviourDB.open(db, read_only=True) as database:
        run = next(iter(database.runs(1)), None) if text == LAST else database.run(int(text))
        if run is None:
            raise UsageError(
                f"no run is on record in {db} yet; `autofinity run -- APP` makes one"
                if text == LAST
                else f"there is no run {text} in {db}; `autofinity status` lists them"
            )
        alive = run.ended is None and process_of(run).alive
        known = bool(run.hint) and not run.sample
        sample = run.sample
        if known:
            rows = (
                row.sample
                for row in database.programs()
                if (row.program, row.threads) == (run.program, run.threads)
            )
            sample = next(rows, {})
        others = _others(run, live_runs(database)) if alive else ()
        threads = threads_now(run, database.masks(run.id)) if alive else ()
    return _Found(run, alive, sample, known, threads, others)


def _others(run: RunRecord, live: tuple[RunRecord, ...]) -> tuple[str, ...]:
    environment = environment_of(run.pid, PIN_VARIABLES)
    return (
        *other_pins(run.pid, environment, parse_cpu_list(run.allowed)),
        *(
            f"run {other.id} ({other.path}, pid {other.pid}) claims CPUs {other.cpus}"
            for other in live
            if other.id != run.id and other.cpus
        ),
    )


def _policy_of(run: RunRecord) -> tuple[RulePolicy | None, str]:
    """The policy that decided, or why it cannot be shown."""
    from autofinity.policy.files import load

    if not run.policy_path:
        return None, "no policy decided"
    path = Path(run.policy_path)
    try:
        if digest_of(path) != run.policy:
            return None, f"{path} is another policy by now than the one that decided"
        return load(path), ""
    except AutofinityError as error:
        return None, str(error)


def _tell_decision(found: _Found, policy: RulePolicy) -> None:
    from autofinity.policy.explain import explain, explanation_text
    from autofinity.policy.readable import cores_text, instead_text, second_text

    if found.known:
        click.echo(f"hint {found.run.hint} was known; by the sample that it was decided by:")
    why = explain(policy, found.sample)
    click.echo(explanation_text(policy, why), nl=False)
    second = policy.second_after(why.decision.hint)
    if second is not None and found.run.probe:
        asked = second.values(_asked(policy, found.sample), _asked(policy, found.run.probe))
        click.echo(f"{second_text(second)}:")
        for line in explanation_text(second.policy, explain(second.policy, asked)).splitlines():
            click.echo(f"  {line}")
    if policy.other_counts is not None:
        click.echo(f"{cores_text(policy.other_counts)}:")
        for entry in policy.other_counts.instead:
            click.echo(f"  {instead_text(entry)}")


def _asked(policy: RulePolicy, sample: Mapping[str, float]) -> dict[str, float]:
    return {name: sample.get(name, float("nan")) for name in policy.counters}


def _document(found: _Found, policy: RulePolicy | None, trouble: str) -> dict[str, object]:
    from autofinity.policy.explain import explain, explanation_data

    decided = policy is not None and found.run.hint is not None
    return {
        "run": asdict(found.run),
        "alive": found.alive,
        "hint_was_known": found.known,
        "decision": explanation_data(policy, explain(policy, found.sample))
        if policy is not None and decided
        else None,
        "undecided": trouble,
        "who_else_pins": list(found.others),
        "threads": [asdict(thread) for thread in found.threads],
    }


def database_named(db: Path | None) -> Path:
    """The database given, or the one in the state folder. Raises `StoreError`: there is none."""
    from autofinity.store.behaviour_file import default_path

    path = db or default_path()
    if not path.is_file():
        raise StoreError(f"there is no behaviour database at {path}; `autofinity run` makes it")
    return path
