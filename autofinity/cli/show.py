"""`autofinity show`: a policy for people."""

from __future__ import annotations

import click

from autofinity.cli.options.json import json_option
from autofinity.cli.options.policy import policy_argument
from autofinity.cli.printer import hand_over, say
from autofinity.workflow.policies import named_policy


@click.command()
@policy_argument
@json_option
def command(policy: str, as_json: bool) -> None:
    """Print a policy in readable form.

    POLICY is a policy file, or the name of a shipped policy.
    """
    from autofinity.policy import files
    from autofinity.policy.readable import policy_text

    read = named_policy(policy)
    if as_json:
        hand_over(files.dumps(read))
    else:
        say(policy_text(read), newline=False)
