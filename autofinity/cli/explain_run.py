"""`autofinity explain RUN`: why the threads of a run are where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from autofinity.cli.printer import say_json, say_wrapped
from autofinity.foreign_text import one_line
from autofinity.model.affinity import Hint
from autofinity.model.policy import RulePolicy
from autofinity.runtime.policies import CHOSEN
from autofinity.runtime.undecided import LEFT, UNDECIDED, reason_on_record
from autofinity.store.behaviour_rows import RunRecord
from autofinity.workflow.run_records import LAST, RunNow, policy_of, run_now

if TYPE_CHECKING:
    from autofinity.policy.explain import Explanation


def names_run(text: str) -> bool:
    """Whether `explain`'s argument is a run and no policy: a number, or `last`."""
    return text == LAST or (text.isascii() and text.isdigit())


def explain_run(text: str, db: Path, html: Path | None, *, as_json: bool) -> None:
    """Print the explanation of run `text`; as a page, too. Raises `StoreError`, `UsageError`."""
    found = run_now(text, db)
    policy, trouble = policy_of(found.run)
    if as_json:
        say_json(_document(found, policy, trouble), indent=2)
    else:
        _print(found, policy, trouble)
    if html is not None:
        _keep_page(html, found, policy, trouble)


def _print(found: RunNow, policy: RulePolicy | None, trouble: str) -> None:
    run = found.run
    state = f"running, {run.phase or 'starting'}" if found.alive else "ended"
    threads = f"{run.threads} threads" if run.threads else "threads were not counted"
    say_wrapped(
        f"run {run.id}: {one_line(run.path)}, pid {run.pid}, {state}, {threads}",
        *_policy_lines(found),
        *_undecided_lines(found, policy, trouble),
        *_decided(found, policy),
        *_surroundings(found),
    )
    authors = {
        "autofinity": "by autofinity",
        "nobody": "as at the start",
        "others": "pinned by others",
    }
    for thread in found.threads:
        name = one_line(thread.name)
        say_wrapped(f"thread {thread.tid} {name}: CPUs {thread.cpus} ({authors[thread.author]})")


def _policy_lines(found: RunNow) -> list[str]:
    run = found.run
    whose = "".join(f", {line.removeprefix(CHOSEN)}" for line in _notes(run) if _is_origin(line))
    asked = one_line((run.policy_path or "none") + whose)
    return [f"policy: {asked}; measured by {one_line(run.tier)}"]


def _undecided_lines(found: RunNow, policy: RulePolicy | None, trouble: str) -> list[str]:
    """Why no rule is shown; empty where one is."""
    run = found.run
    why = reason_on_record(run, alive=found.alive)
    if why.startswith(LEFT):
        return [one_line(f"nothing was placed: {why.removeprefix(LEFT)}")]
    if why:
        return [one_line(f"nothing was decided{' yet' if found.alive else ''}: {why}")]
    if run.hint is None:
        return ["no hint: threads were placed by sharing"]
    if policy is None:
        return [one_line(f"{_shown(run.hint)}: {trouble}")]
    return []


def _decided(found: RunNow, policy: RulePolicy | None) -> list[str]:
    """The explanation of all looks that were taken."""
    from autofinity.policy.explain import away_legend, explanation_text
    from autofinity.policy.explain_steps import first_lines

    looks = _looks(found, policy)
    if policy is None or not looks:
        return []
    lines = [f"final answer: {_shown(found.run.hint)}"] if len(looks) > 1 else []
    lines += _before(found) + first_lines(policy, looks[0].why, alone=len(looks) == 1)
    for look in looks[1:]:
        lines.append(f"{look.title}:")
        lines += [f"  {line}" for line in explanation_text(look.policy, look.why).splitlines()]
    lines += _trial_lines(found.run, policy, looks) + _after(policy)
    return lines + away_legend(lines)


def _trial_lines(run: RunRecord, policy: RulePolicy, looks: Sequence[_Look]) -> list[str]:
    if not _by_trial(run, policy, looks):
        return []
    return [f"a trial of {_shown(run.hint)} decided; the sample of the trial is not on record"]


def _by_trial(run: RunRecord, policy: RulePolicy | None, looks: Sequence[_Look]) -> bool:
    """Whether the trial decided: its sample is on no record, its answer is."""
    trial = policy.trial if policy is not None else None
    if policy is None or trial is None or len(looks) < 2 or run.hint != trial.hint:
        return False
    return policy.other_counts is None and looks[-1].why.decision.hint != trial.hint


class _Look(NamedTuple):
    """One question to a policy."""

    policy: RulePolicy
    why: Explanation
    title: str


def _looks(found: RunNow, policy: RulePolicy | None) -> list[_Look]:
    """Both questions to the policy, as far as they were asked; empty where nothing was decided."""
    from autofinity.policy.explain import explain
    from autofinity.policy.readable import second_text

    run = found.run
    if policy is None or run.hint is None or reason_on_record(run, alive=found.alive):
        return []
    looks = [_Look(policy, explain(policy, found.sample), "The decision")]
    second = policy.second
    if second is not None and run.probe:  # it was taken, so it had the last word
        asked = second.values(_asked(policy, found.sample), _asked(policy, run.probe))
        looks.append(_Look(second.policy, explain(second.policy, asked), second_text(second)))
    return looks


def _before(found: RunNow) -> list[str]:
    if not found.known:
        return []
    return [f"hint {_shown(found.run.hint)} was on record; decided by this sample:"]


def _after(policy: RulePolicy) -> list[str]:
    """Meaning of the answer with other thread counts."""
    from autofinity.policy.readable import cores_text, instead_text

    if policy.other_counts is None:
        return []
    entries = [f"  {instead_text(entry)}" for entry in policy.other_counts.instead]
    return [f"{cores_text(policy.other_counts)}:", *entries]


def _surroundings(found: RunNow) -> list[str]:
    """Notes of the monitor, claims, and others that pin."""
    run = found.run
    why = reason_on_record(run, alive=found.alive)
    said = (why, UNDECIDED + why)
    notes = [line for line in _notes(run) if line not in said and not _is_origin(line)]
    lines = [f"note: {line}" for line in notes]
    if run.cpus and found.alive:
        lines.append(one_line(f"claims CPUs {run.cpus}; began with {run.allowed}"))
    elif run.cpus and run.ended is not None:
        lines.append(one_line(f"the program's threads were bound to CPUs {run.cpus}"))
    return lines + [one_line(f"also pinned: {line}") for line in found.others]


def _notes(run: RunRecord) -> list[str]:
    return run.notes.split("\n") if run.notes else []


def _is_origin(note: str) -> bool:
    """Whether a note says who chose the policy."""
    return note.startswith(CHOSEN)


def _keep_page(path: Path, found: RunNow, policy: RulePolicy | None, trouble: str) -> None:
    from autofinity.cli.html_page import keep_page
    from autofinity.report.decision_page import decision_section
    from autofinity.report.page import Section, Sentences
    from autofinity.report.run_page import (
        measured_section,
        over_time_section,
        place_section,
        run_facts,
    )
    from autofinity.workflow.backends import machine_topology

    run = found.run
    lines = (*_policy_lines(found), *_undecided_lines(found, policy, trouble))
    sections = [Section("The run", (run_facts(run, alive=found.alive), Sentences(lines)))]
    place = place_section(run, found.threads, machine_topology("host"))
    sections += [place] if place is not None else []
    for number, look in enumerate(looks := _looks(found, policy)):
        first, last = number == 0, number == len(looks) - 1
        sections.append(
            decision_section(
                look.policy,
                look.why,
                look.title[:1].upper() + look.title[1:],
                f"look-{number + 1}",
                before=_before(found) if first else (),
                after=_after(policy) if last and policy is not None else (),
            )
        )
    sections.append(measured_section(run, found.observed))
    sections.append(over_time_section(found.looks, alive=found.alive))
    around = tuple(_surroundings(found))
    sections += [Section("Notes", (Sentences(around),))] if around else []
    hint = _shown(run.hint)
    keep_page(
        path,
        f"Run {run.id}: {Path(run.path).name}",
        f"Why its threads are where they are: {hint}.",
        sections,
    )


def _shown(hint: Hint | None) -> str:
    return hint.shown if hint else "no hint"


def _asked(policy: RulePolicy, sample: Mapping[str, float]) -> dict[str, float]:
    return {name: sample.get(name, float("nan")) for name in policy.counters}


def _document(found: RunNow, policy: RulePolicy | None, trouble: str) -> dict[str, object]:
    from autofinity.policy.explain import explanation_data

    looks = _looks(found, policy)
    hint = str(found.run.hint) if found.run.hint else None
    explained = [explanation_data(look.policy, look.why) for look in looks]
    return {
        "run": asdict(found.run) | {"hint": hint},
        "alive": found.alive,
        "hint_was_known": found.known,
        "decision": explained[0] if explained else None,
        "second": explained[1] if len(explained) > 1 else None,
        "tried": hint if _by_trial(found.run, policy, looks) else None,
        "undecided": reason_on_record(found.run, alive=found.alive) or trouble,
        "who_else_pins": list(found.others),
        "threads": [asdict(thread) for thread in found.threads],
        "looks": [
            {"start_ns": look.start_ns, "end_ns": look.end_ns, "place": look.place}
            | {"counts": {str(thread): dict(each) for thread, each in look.counts.items()}}
            for look in found.looks
        ],
    }
