"""Options of the commands that deal with running programs."""

from __future__ import annotations

import os
from pathlib import Path

import click

from autofinity.cli.options.hint import HINT, hint_of
from autofinity.cli.options.output import STDOUT
from autofinity.model.affinity import Hint
from autofinity.store.site_address import is_other_url, is_site


class _DatabaseFile(click.Path):
    """A file; the URL of a site's database is refused with the commands that take one."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """The path. Fails for a URL."""
        if is_site(os.fspath(value)) or is_other_url(os.fspath(value)):
            self.fail(
                "expected a file: the commands that read a site's database are `rebuild`, `site` "
                "and `doctor --site`; `run`, `attach` and `push` write into it",
                param,
                ctx,
            )
        if value == STDOUT:
            self.fail("got -, expected a file: a database is no stream", param, ctx)
        return super().convert(value, param, ctx)


database_option = click.option(
    "--db",
    type=_DatabaseFile(path_type=Path, dir_okay=False),
    help="Behaviour database.  [default: in the state folder]",
)
policy_option = click.option(
    "--policy",
    metavar="POLICY",
    help="Policy that decides: a file, or the name of a shipped policy.  [default: "
    "AUTOFINITY_POLICY, else the user's own, else the shipped one of this machine or for any "
    "machine]",
)
fallback_option = click.option(
    "--fallback",
    type=HINT,
    help="Place by this hint where no counter of the policy can be measured, or there is no "
    "policy.  [default: AUTOFINITY_FALLBACK, else threads stay where the system puts them]",
)


def fallback_of(wish: Hint | None) -> Hint | None:
    """The hint of --fallback, else of AUTOFINITY_FALLBACK. Raises `UsageError`."""
    said = os.environ.get("AUTOFINITY_FALLBACK")
    return wish if wish is not None or not said else hint_of(said)
