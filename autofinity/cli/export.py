"""`autofinity export`: a policy in other forms."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.options.output import output_option
from autofinity.cli.options.policy import policy_argument
from autofinity.cli.printer import hand_over, say
from autofinity.policy.export import DEFAULT_PREFIX, FORMATS, exported
from autofinity.policy.files import write_text
from autofinity.workflow.policies import named_policy


@click.command()
@policy_argument
@click.option(
    "--format",
    "form",
    default="c",
    show_default=True,
    help="; ".join(f"{name}: {form.about}" for name, form in FORMATS.items()) + ".",
)
@output_option("File to write.  [default: standard output]")
@click.option(
    "--prefix",
    default=DEFAULT_PREFIX,
    show_default=True,
    help="Before every name in a C header, so that several policies fit into one program.",
)
def command(policy: str, form: str, output: Path | None, prefix: str) -> None:
    """Write a policy as a C header or in another form.

    POLICY is a policy file, or the name of one that is shipped. The header needs nothing else,
    allocates nothing, and compiles as C99 and as C++.
    """
    text = exported(named_policy(policy), form, prefix)
    if output is None:
        hand_over(text)
        return
    write_text(output, text)
    say(f"policy kept in {output}", err=True)
