"""`autofinity export`: a policy in other forms."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.given_options import refuse_options
from autofinity.cli.help import Command
from autofinity.cli.options.output import output_option
from autofinity.cli.options.policy import policy_argument
from autofinity.cli.printer import hand_over, say
from autofinity.model.errors import UsageError
from autofinity.model.policy import RulePolicy
from autofinity.policy.export import DEFAULT_PREFIX, FORMATS, exported, format_of
from autofinity.policy.files import write_text
from autofinity.workflow.policies import named_policy


@click.command(cls=Command)
@policy_argument
@click.option(
    "--format",
    "form",
    default="c",
    show_default=True,
    help="; ".join(f"{name}: {form.about}" for name, form in FORMATS.items()) + ".",
)
@output_option("File to write.  [default: standard output]", stdout=True)
@click.option(
    "--prefix",
    default=DEFAULT_PREFIX,
    show_default=True,
    help="Prefix of all names in a C header, so that one program can hold several policies.",
)
@click.option(
    "--machine",
    "-m",
    default=None,
    help="Insert the facts of this machine into a policy that needs machine facts.",
)
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1),
    default=None,
    help="Number of threads of the run that --machine inserts facts for.",
)
def command(
    policy: str,
    form: str,
    output: Path | None,
    prefix: str,
    machine: str | None,
    threads: int | None,
) -> None:
    """Write a policy as a C header or in another format.

    POLICY is a policy file, or the name of a shipped policy. The header is self-contained,
    allocates nothing, and compiles as C99 and as C++.
    """
    if not format_of(form).has_names:
        refuse_options(("prefix",), f"{form} has no names")
    text = exported(_for(named_policy(policy), machine, threads), form, prefix)
    if output is None:
        hand_over(text)
        return
    write_text(output, text)
    say(f"policy kept in {output}", err=True)


def _for(policy: RulePolicy, machine: str | None, threads: int | None) -> RulePolicy:
    """The policy on a machine with so many threads, where both are said."""
    from autofinity.policy.on_machine import on_machine
    from autofinity.workflow.machine_facts import facts_on

    if machine is None and threads is None:
        return policy
    if machine is None or threads is None:
        raise UsageError("--machine and --threads go together; expected both or neither")
    return on_machine(policy, facts_on(machine)(threads))
