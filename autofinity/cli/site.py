"""`autofinity site`: a site's database, its tables and who may read them."""

from __future__ import annotations

from typing import cast

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.site import site_option, site_url
from autofinity.cli.printer import say, say_json
from autofinity.model.errors import UsageError
from autofinity.store.site_db import SiteDB
from autofinity.store.site_schema import READERS, Readers

_MEANING: dict[Readers, str] = {
    "own": "rows of its own",
    "observations": "rows of its own, and observations of all",
    "all": "all rows",
}


@click.command(cls=Command)
@site_option
@click.option(
    "--init",
    is_flag=True,
    help="Make the tables, or bring them up to date, and set who may read them.",
)
@click.option(
    "--read",
    "readers",
    type=click.Choice(READERS),
    help="Rows that each role may read: its own, also the observations of others (which policies "
    "are learned from; they name programs by keys, not by paths), or all. "
    "The owner of the tables reads all.  [default: own in new tables; else unchanged]",
)
@json_option
def command(url: str | None, init: bool, readers: str | None, as_json: bool) -> None:
    """Show a site's database, or make its tables (--init)."""
    if readers is not None and not init:
        raise UsageError("--read sets who may read; expected it with --init")
    with SiteDB.open(site_url(url)) as site:
        if init:
            now = cast("Readers | None", readers)
            site.init(now or (site.readers if site.version else "own"))
        site.check()
        counts, shown = site.counts(), site.readers
        version, name = site.version, site.name
    if as_json:
        say_json(
            {"site": name, "version": version, "read": shown, "readable_rows": dict(counts)},
            indent=2,
        )
        return
    say(f"{name}: schema {version}; a role reads {_MEANING[shown]} (--read {shown})")
    rows = ", ".join(f"{count} {table}" for table, count in counts.items())
    say(f"rows that this role may read: {rows}")
