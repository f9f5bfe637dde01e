"""Options of the commands that deal with running programs."""

from __future__ import annotations

from pathlib import Path

import click

database_option = click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Behaviour database.  [default: the one in the state folder]",
)
policy_option = click.option(
    "--policy",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Policy to ask.  [default: AUTOFINITY_POLICY, else the user's own, else the shipped one]",
)
