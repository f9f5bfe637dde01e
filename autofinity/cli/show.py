"""`autofinity show`: a policy for people; without a name, the shipped policies."""

from __future__ import annotations

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.page import print_table
from autofinity.cli.printer import hand_over, say_json, say_wrapped
from autofinity.model.errors import UsageError
from autofinity.model.policy import RulePolicy
from autofinity.policy.shipped import PAPERS_END, policy_names
from autofinity.workflow.policies import named_policy


@click.command(cls=Command)
@click.argument("policy", metavar="[POLICY]", required=False)
@click.option(
    "--words",
    is_flag=True,
    help="Print sentences only, which say when the policy chooses which placement.",
)
@json_option
def command(policy: str | None, words: bool, as_json: bool) -> None:
    """Print a policy in readable form; without POLICY, list the shipped policies.

    POLICY is a policy file, or the name of a shipped policy.
    """
    from autofinity.policy import files
    from autofinity.policy.in_words import policy_in_words
    from autofinity.policy.readable import policy_text

    if policy is None:
        if words:
            raise UsageError("--words is for one policy; expected its file or name, too")
        _tell_shipped(as_json=as_json)
        return
    read = named_policy(policy)
    if as_json:
        hand_over(files.dumps(read))
    elif words:
        say_wrapped(*policy_in_words(read))
    else:
        say_wrapped(*policy_text(read).splitlines())


def _tell_shipped(*, as_json: bool) -> None:
    shipped = {name: named_policy(name) for name in policy_names()}
    if as_json:
        say_json({"policies": [_document(name, policy) for name, policy in shipped.items()]})
        return
    from rich.table import Table

    table = Table(*("policy", "learned on", "threads", "rules", "method"), box=None, pad_edge=False)
    for name, policy in shipped.items():
        row = _document(name, policy)
        table.add_row(name, *(str(row[key]) for key in ("machine", "threads", "rules", "method")))
    print_table(table)
    say_wrapped("`--policy NAME` takes a name; `autofinity show NAME` prints the rules")


def _document(name: str, policy: RulePolicy) -> dict[str, object]:
    learned = policy.provenance.get("threads")
    return {
        "name": name,
        "machine": policy.provenance.get("machine", "?"),
        "threads": ",".join(map(str, learned)) if isinstance(learned, list | tuple) else "?",
        "rules": len(policy.rules),
        "method": "Moore & Childers" if name.endswith(PAPERS_END) else "autofinity",
    }
