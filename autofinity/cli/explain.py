"""`autofinity explain`: why a policy says what it says of a sample, or of a run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click

from autofinity.cli.explain_run import explain_run, names_run
from autofinity.cli.explain_sample import answer, keep_answer, tell_answer
from autofinity.cli.help import Command
from autofinity.cli.options.html import html_option
from autofinity.cli.options.json import json_option
from autofinity.cli.options.run import database_option
from autofinity.cli.printer import say
from autofinity.cli.program_given import refuse_program
from autofinity.foreign_text import one_line
from autofinity.model.counters import check_count
from autofinity.model.errors import UsageError
from autofinity.policy.shipped import policy_names
from autofinity.workflow.policies import named_policy
from autofinity.workflow.run_records import database_named


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
    if names_run(policy):
        if samples:
            raise UsageError(
                "a run has its own samples; expected `explain RUN` without --sample, or --sample "
                "with the name or the file of a policy (`autofinity explain RUN` names that of a "
                "run)"
            )
        if second_samples or trial_samples:
            raise UsageError(
                "--second and --trial go with --sample of a policy; a run has its own samples"
            )
        explain_run(policy, database_named(db), html, as_json=as_json)
        return
    if policy not in policy_names():
        refuse_program(
            Path(policy), "a policy or a run", "autofinity run -- {}` and `autofinity explain last"
        )
    read = named_policy(policy)
    if not samples:
        raise UsageError(
            "--sample is missing; expected --sample COUNTER=VALUE,… or the number of a run"
        )
    answered = answer(
        read,
        sample_of("--sample", samples, (*read.counters, *read.facts)),
        sample_of("--second", second_samples, read.counters),
        sample_of("--trial", trial_samples, read.counters),
    )
    tell_answer(answered, as_json=as_json)
    if answered.second is None and second_samples:
        say("--second is ignored: this answer is final", err=True)
    if trial_samples and not second_samples:
        say("--trial is ignored without --second", err=True)
    if html is not None:
        keep_answer(html, Path(policy).name, answered)


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
