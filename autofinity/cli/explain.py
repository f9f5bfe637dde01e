"""`autofinity explain`: why a policy says what it says of a sample."""

from __future__ import annotations

import json

import click

from autofinity.cli.json_option import json_option
from autofinity.cli.policy_argument import named_policy, policy_argument
from autofinity.model.errors import UsageError


@click.command()
@policy_argument
@click.option(
    "--sample",
    "-s",
    "samples",
    metavar="COUNTER=VALUE,…",
    multiple=True,
    required=True,
    help="Counts per thread and second; nan for one that was not measured. May be repeated.",
)
@json_option
def command(policy: str, samples: tuple[str, ...], as_json: bool) -> None:
    """Say which rule decides for a sample, by what margin, and what comes next.

    POLICY is a policy file, or the name of one that is shipped. Margins are relative: how far a
    value would have to move for another hint.
    """
    from autofinity.policy.explain import explain, explanation_data, explanation_text

    read = named_policy(policy)
    why = explain(read, sample_of(samples))
    if as_json:
        click.echo(json.dumps(explanation_data(read, why)))
    else:
        click.echo(explanation_text(read, why), nl=False)


def sample_of(texts: tuple[str, ...]) -> dict[str, float]:
    """`a=1,b=2e6` → values by counter. Raises `UsageError` naming the part that is wrong."""
    sample: dict[str, float] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        counter, equals, value = part.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not equals or not counter:
            raise UsageError(f"--sample {part!r}: expected COUNTER=VALUE, for example ipc=0.7")
        if counter in sample:
            raise UsageError(f"--sample: {counter} is given twice")
        sample[counter] = number
    return sample
