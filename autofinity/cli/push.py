"""`autofinity push`: finished runs that wait on this host go to the site's database."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.run import database_option
from autofinity.cli.options.site import site_url
from autofinity.cli.printer import say, say_json
from autofinity.workflow.push import push


@click.command(cls=Command)
@click.option(
    "--to",
    "url",
    metavar="URL",
    help="URL of the site's database (postgresql://…).  [default: AUTOFINITY_SITE_DB]",
)
@database_option
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Send all finished runs that no site has yet, also those that began without a site, wait "
    "for another one, or were refused.",
)
@json_option
def command(url: str | None, db: Path | None, everything: bool, as_json: bool) -> None:
    """Send finished runs that wait on this host to the site's database.

    A run that began with `--db postgresql://…` is sent when it has ended; this command sends what
    could not be sent then. Sending twice changes nothing.
    """
    done = push(site_url(url), db, everything=everything)
    if as_json:
        say_json(
            {
                "site": done.site,
                "sent": done.sent,
                "refused": list(done.refused),
                "busy": done.busy,
            },
            indent=2,
        )
        return
    say(f"{done.sent} runs sent to {done.site}")
    for line in done.refused:
        say(f"not sent: {line}; `autofinity push --all` tries it again", err=True)
    if done.busy:
        say("another sender is at work and sends what waits", err=True)
