"""Options that a command line has, beside those with their defaults."""

from __future__ import annotations

from collections.abc import Collection

import click
from click.core import ParameterSource

from autofinity.model.errors import UsageError


def given_options(names: Collection[str]) -> list[str]:
    """Spellings of the options that were given, of those parameters of the present command."""
    context = click.get_current_context()
    return [
        param.opts[0]
        for param in context.command.params
        if param.name in names
        and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]


def refuse_options(names: Collection[str], why: str) -> None:
    """Raise `UsageError`, which names the given ones of these parameters and says `why`."""
    given = given_options(names)
    if given:
        raise UsageError(f"{', '.join(given)}: {why}; expected no such option")
