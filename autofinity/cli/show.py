"""`autofinity show`: a policy for people."""

from __future__ import annotations

import click

from autofinity.cli.options.json import json_option
from autofinity.cli.options.policy import policy_argument
from autofinity.cli.printer import hand_over, say
from autofinity.workflow.policies import named_policy


@click.command()
@policy_argument
@click.option(
    "--words",
    is_flag=True,
    help="Print sentences only: when the policy chooses which placement, without cut points, "
    "weights and origin.",
)
@json_option
def command(policy: str, words: bool, as_json: bool) -> None:
    """Print a policy in readable form.

    POLICY is a policy file, or the name of a shipped policy.
    """
    from autofinity.policy import files
    from autofinity.policy.in_words import policy_in_words
    from autofinity.policy.readable import policy_text

    read = named_policy(policy)
    if as_json:
        hand_over(files.dumps(read))
    elif words:
        for line in policy_in_words(read):
            say(line)
    else:
        say(policy_text(read), newline=False)
