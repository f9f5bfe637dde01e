"""Options that name a site's database."""

from __future__ import annotations

import os
from pathlib import Path

import click

from autofinity.cli.options.output import STDOUT
from autofinity.model.errors import UsageError
from autofinity.store.site_address import EXPECTED, SITE_VARIABLE, is_other_url, is_site, site_of

spool_option = click.option(
    "--db",
    metavar="FILE|URL",
    help="Behaviour database; the URL of a site's database (postgresql://…), which gets the "
    "finished run.  [default: in the state folder, and AUTOFINITY_SITE_DB]",
)
site_option = click.option(
    "--db",
    "url",
    metavar="URL",
    help="URL of the site's database (postgresql://…).  [default: AUTOFINITY_SITE_DB]",
)


def refuse_other_url(named: str) -> None:
    """Raise `UsageError` where --db is `-`, or a URL of another kind than a site's. Such a URL is
    not shown: it may hold a password.
    """
    if named == STDOUT:
        raise UsageError(f"--db: got -; expected a file, or {EXPECTED}")
    if is_other_url(named):
        raise UsageError(f"--db: got a URL of another kind; expected a file, or {EXPECTED}")


def spool_and_site(named: str | None) -> tuple[Path | None, str]:
    """File of the spool (None: the usual one) and URL of the site (empty: none) that --db means.

    A file that is named stays on this host, whatever the environment says. Raises `UsageError`.
    """
    if named is None:
        return None, site_of(os.environ)
    refuse_other_url(named)
    return (None, named) if is_site(named) else (Path(named), "")


def site_url(named: str | None) -> str:
    """The URL that is named, else that of the environment. Raises `UsageError`."""
    url = named or site_of(os.environ)
    if url and is_site(url):
        return url
    if named and is_other_url(named):
        got = "got a URL of another kind"
    else:
        got = f"got {named!r}" if named else f"{SITE_VARIABLE} names none"
    raise UsageError(f"no site's database: {got}; expected a URL such as {EXPECTED}")
