"""`autofinity explain RUN`: why the threads of a run are where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from autofinity.cli.printer import say, say_json
from autofinity.foreign_text import one_line
from autofinity.model.affinity import Hint
from autofinity.model.policy import RulePolicy
from autofinity.runtime.policies import CHOSEN
from autofinity.runtime.undecided import UNDECIDED, reason_on_record
from autofinity.workflow.run_records import LAST, RunNow, policy_of, run_now


def names_run(text: str) -> bool:
    """Whether `explain`'s argument is a run and no policy: a number, or `last`."""
    return text == LAST or (text.isascii() and text.isdigit())


def explain_run(text: str, db: Path, *, as_json: bool) -> None:
    """Print the explanation of run `text`. Raises `StoreError`, `UsageError`."""
    found = run_now(text, db)
    policy, trouble = policy_of(found.run)
    if as_json:
        say_json(_document(found, policy, trouble), indent=2)
        return
    run = found.run
    state = f"running, {run.phase or 'starting'}" if found.alive else "ended"
    notes = run.notes.split("\n") if run.notes else []
    chosen = [line.removeprefix(CHOSEN) for line in notes if line.startswith(CHOSEN)]
    whose = "".join(f", {origin}" for origin in chosen)
    say(f"run {run.id}: {one_line(run.path)}, pid {run.pid}, {state}, {run.threads or '?'} threads")
    asked = one_line((run.policy_path or "none") + whose)
    say(f"policy: {asked}; measured by {one_line(run.tier)}")
    why = reason_on_record(run, alive=found.alive)
    if why:
        say(one_line(f"nothing was decided{' yet' if found.alive else ''}: {why}"))
    elif run.hint is None:
        say("no hint: threads were placed by sharing")
    elif policy is None:
        say(one_line(f"{_shown(run.hint)}: {trouble}"))
    else:
        _tell_decision(found, policy)
    for line in notes:
        if line != UNDECIDED + why and not line.startswith(CHOSEN):
            say(f"note: {line}")
    if run.cpus:
        say(one_line(f"claims CPUs {run.cpus}; began with {run.allowed}"))
    for line in found.others:
        say(one_line(f"also pinned: {line}"))
    authors = {
        "autofinity": "by autofinity",
        "nobody": "as at the start",
        "others": "pinned by others",
    }
    for thread in found.threads:
        name = one_line(thread.name)
        say(f"thread {thread.tid} {name}: CPUs {thread.cpus} ({authors[thread.author]})")


def _tell_decision(found: RunNow, policy: RulePolicy) -> None:
    from autofinity.policy.explain import explain, explanation_text
    from autofinity.policy.readable import cores_text, instead_text, second_text

    if found.known:
        say(f"hint {_shown(found.run.hint)} was on record; decided by this sample:")
    why = explain(policy, found.sample)
    say(explanation_text(policy, why), newline=False)
    second = policy.second
    if second is not None and found.run.probe:  # it was taken, so it had the last word
        asked = second.values(_asked(policy, found.sample), _asked(policy, found.run.probe))
        say(f"{second_text(second)}:")
        for line in explanation_text(second.policy, explain(second.policy, asked)).splitlines():
            say(f"  {line}")
    if policy.other_counts is not None:
        say(f"{cores_text(policy.other_counts)}:")
        for entry in policy.other_counts.instead:
            say(f"  {instead_text(entry)}")


def _shown(letters: str | None) -> str:
    return Hint.from_letters(letters).shown if letters else "no hint"


def _asked(policy: RulePolicy, sample: Mapping[str, float]) -> dict[str, float]:
    return {name: sample.get(name, float("nan")) for name in policy.counters}


def _document(found: RunNow, policy: RulePolicy | None, trouble: str) -> dict[str, object]:
    from autofinity.policy.explain import explain, explanation_data

    why = reason_on_record(found.run, alive=found.alive)
    decided = policy is not None and found.run.hint is not None and not why
    return {
        "run": asdict(found.run),
        "alive": found.alive,
        "hint_was_known": found.known,
        "decision": explanation_data(policy, explain(policy, found.sample))
        if policy is not None and decided
        else None,
        "undecided": why or trouble,
        "who_else_pins": list(found.others),
        "threads": [asdict(thread) for thread in found.threads],
    }
