"""`autofinity explain`: why a policy says what it says of a sample, or of a run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.explain_run import explain_run, names_run
from autofinity.cli.help import Command
from autofinity.cli.options.html import html_option
from autofinity.cli.options.json import json_option
from autofinity.cli.options.run import database_option
from autofinity.cli.printer import say, say_json, say_wrapped
from autofinity.cli.program_given import refuse_program
from autofinity.foreign_text import one_line
from autofinity.model.counters import check_count
from autofinity.model.errors import UsageError
from autofinity.policy.shipped import policy_names
from autofinity.workflow.policies import named_policy
from autofinity.workflow.run_records import database_named

if TYPE_CHECKING:
    from autofinity.model.affinity import Hint
    from autofinity.model.policy import RulePolicy, SecondLook
    from autofinity.policy.answers import Steps
    from autofinity.policy.explain import Explanation
    from autofinity.policy.explain_steps import ExplainedStep
    from autofinity.report.page import Section


@click.command(cls=Command)
@click.argument("policy", metavar="POLICY|RUN")
@click.option(
    "--sample",
    "-s",
    "samples",
    metavar="COUNTER=VALUE,…",
    multiple=True,
    help="Values of the policy's counters, per thread and second, and of its machine facts; nan: "
    "not measured. May be repeated.",
)
@click.option(
    "--second",
    "second_samples",
    metavar="COUNTER=VALUE,…",
    multiple=True,
    help="The same counters, measured in the affinity of the policy's second sample.",
)
@click.option(
    "--trial",
    "trial_samples",
    metavar="COUNTER=VALUE,…",
    multiple=True,
    help="The same counters, measured in the affinity of the policy's trial.",
)
@database_option
@html_option
@json_option
def command(
    policy: str,
    samples: tuple[str, ...],
    second_samples: tuple[str, ...],
    trial_samples: tuple[str, ...],
    db: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Show which rule decides for a sample, by which margin, and which hint comes second.

    RUN is the number of a run in `autofinity status`, or `last`. The explanation is of the recorded
    sample. While the run lives, the CPU mask of every thread and everything else that pins threads
    are listed, too.

    A policy may ask for a second sample in another affinity (--second), and for a third (--trial),
    before the final answer.

    POLICY is a policy file, or the name of a shipped policy. A margin is the relative change of a
    value that would lead to another hint.
    """
    from autofinity.policy.answers import Given
    from autofinity.policy.explain import explanation_data
    from autofinity.policy.explain_steps import explain_steps, trial_data
    from autofinity.policy.on_machine import on_machine
    from autofinity.policy.possible import open_step

    if not samples and names_run(policy):
        if second_samples or trial_samples:
            raise UsageError(
                "--second and --trial go with --sample of a policy; a run has its own samples"
            )
        explain_run(policy, database_named(db), html, as_json=as_json)
        return
    if names_run(policy):
        raise UsageError(
            "a run has its own samples; expected `explain RUN` without --sample, or --sample with "
            "the name or the file of a policy (`autofinity explain RUN` names that of a run)"
        )
    if policy not in policy_names():
        refuse_program(
            Path(policy), "a policy or a run", "autofinity run -- {}` and `autofinity explain last"
        )
    read = named_policy(policy)
    if not samples:
        raise UsageError(
            "--sample is missing; expected --sample COUNTER=VALUE,… or the number of a run"
        )
    known = (*read.counters, *read.facts)
    start = sample_of("--sample", samples, known)
    probe, tried = (
        sample_of(option, texts, read.counters)
        for option, texts in (("--second", second_samples), ("--trial", trial_samples))
    )
    facts = {name: start.pop(name) for name in read.facts if name in start}
    lacking = [name for name in read.facts if name not in facts]
    read = on_machine(read, facts)
    given = Given(read, start, probe or None, tried or None)
    found, explained = explain_steps(given)
    why, again = explained[0].why, explained[1] if len(explained) > 1 else None
    second = read.second_after(why.decision.hint)
    is_final = found.final and open_step(found) is None
    final = found.steps[-1].decision.hint if is_final else None
    if as_json:
        tries = read.trial if again and (found.awaits or len(explained) > 2) else None
        document = explanation_data(read, why)
        document["asks_again_in"] = None if second is None else str(second.sampled_in)
        document["second"] = (
            None if again is None else explanation_data(again.step.asked, again.why)
        )
        document["tries"] = None if tries is None else str(tries.hint)
        document["trial"] = (
            trial_data(read.trial, explained[2]) if read.trial and len(explained) > 2 else None
        )
        document["final"] = None if final is None else str(final)
        say_json(document)
    else:
        _print(read, found, explained, lacking)
    if second is None and second_samples:
        say("--second is ignored: this answer is final", err=True)
    if trial_samples and not second_samples:
        say("--trial is ignored without --second", err=True)
    if html is not None:
        _keep_page(html, policy, read, why, lacking, second, again.why if again else None)


def _print(
    read: RulePolicy,
    found: Steps,
    explained: tuple[ExplainedStep, ...],
    lacking: Sequence[str],
) -> None:
    from autofinity.policy.explain_steps import answer_first, first_lines, later_lines

    why = explained[0].why
    later = later_lines(read, found, explained, lambda sample: f"--{sample}")
    said = first_lines(read, why, alone=not later)
    answer = answer_first(found, found.steps[-1].decision.hint)
    say_wrapped(*answer, *said, *_wishes(lacking, why), *later)


def _wishes(lacking: Sequence[str], why: Explanation) -> list[str]:
    """Values that a sound decision still needs."""
    lines = []
    if lacking:
        lines.append(
            f"facts of the machine that are not known: {', '.join(lacking)}; no rule with these "
            "facts holds"
        )
    if not why.possible.decided:  # of a run there is nothing more to give
        lines.append(f"give {why.possible.lacking_text} with --sample for a decision")
    return lines


def sample_of(option: str, texts: tuple[str, ...], known: Collection[str]) -> dict[str, float]:
    """`a=1,b=2e6` → values by name, of the policy's names (`known`); those of other counters are
    left out. Raises `UsageError` naming the part that is wrong.
    """
    from autofinity.sim.events import EVENTS

    sample: dict[str, float] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        counter, equals, value = part.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not equals or not counter:
            raise UsageError(f"{option} {part!r}: expected COUNTER=VALUE, for example ipc=0.7")
        if counter not in known and counter not in EVENTS:
            raise UsageError(
                f"{option}: no counter {counter!r} is known; expected "
                + (", ".join(map(one_line, known)) or f"no {option}: it looks at no counter")
            )
        if counter in sample:
            raise UsageError(f"{option}: {counter} is given twice")
        check_count(option, counter, number)
        sample[counter] = number
    own = {counter: value for counter, value in sample.items() if counter in known}
    if sample and known and not own:
        raise UsageError(
            f"{option} has none of the counters that the policy asks for; expected "
            + ", ".join(map(one_line, known))
        )
    return own


def _keep_page(
    path: Path,
    name: str,
    policy: RulePolicy,
    why: Explanation,
    lacking: Sequence[str],
    second: SecondLook | None,
    again: Explanation | None,
) -> None:
    from autofinity.cli.html_page import keep_page
    from autofinity.policy.readable import policy_text, second_text
    from autofinity.report.decision_page import decision_section
    from autofinity.report.page import Folded, Section, Sentences

    sections = [
        decision_section(policy, why, "The decision", "look-1", after=_wishes(lacking, why))
    ]
    last = why.decision
    final = second is None or again is not None
    if second is not None:
        title = second_text(second)
        title = title[:1].upper() + title[1:]
        if again is None:
            lines = ("The answer is not final. Give a sample in this placement with --second.",)
            sections.append(Section(title, (Sentences(lines),)))
        else:
            sections.append(decision_section(second.policy, again, title, "look-2"))
            last = again.decision
    example = _example(last.hint, policy)
    sections += [example] if example is not None else []
    whole = Sentences(tuple(policy_text(policy).splitlines()))
    sections.append(Section("The policy", (Folded("The whole policy", (whole,)),)))
    shown = Path(name).name
    answer = f"The policy chooses {last.hint.shown}" + (
        "." if final else ", until the next sample."
    )
    keep_page(path, f"Policy {shown}: answer for a sample", answer, sections)


_EXAMPLE_THREADS = 8


def _example(hint: Hint, policy: RulePolicy) -> Section | None:
    """The hint on the machine that the policy was learned on; None: the policy does not say."""
    from autofinity.model.errors import AutofinityError
    from autofinity.report.decision_page import example_section
    from autofinity.sim.preset import preset_names
    from autofinity.workflow.backends import machine_topology

    machine, counts = policy.provenance.get("machine"), policy.provenance.get("threads")
    if machine not in preset_names() or not isinstance(counts, list | tuple) or not counts:
        return None
    threads = _EXAMPLE_THREADS if _EXAMPLE_THREADS in counts else counts[0]
    try:
        return example_section(hint, str(machine), machine_topology(str(machine)), int(threads))
    except (AutofinityError, TypeError, ValueError):  # what a file says need not fit
        return None
