"""Starts the sending of finished runs to the site's database when a program has ended."""

from __future__ import annotations

import os
from pathlib import Path

from autofinity.private_file import locked
from autofinity.runtime.afterwards import start_afterwards
from autofinity.store.site_address import SITE_VARIABLE

SEND_LOCK = "push.lock"
"""Name of the file beside the database whose lock the sender holds."""
SEND_LOG = "push.log"
"""Name of the file beside the database with the output of the latest sender."""


def start_sending(db: Path, site: str) -> None:
    """Start `autofinity push` to the URL `site`, which goes by the environment: arguments of
    processes are shown to everybody.

    Nothing is started while a sender is at work: it looks for runs that ended meanwhile. Raises
    `OSError`.
    """
    with locked(db.with_name(SEND_LOCK)) as nobody_sends:
        pass
    if not nobody_sends:
        return
    start_afterwards(
        db.with_name(SEND_LOG),
        "push",
        "--db",
        str(db),
        environment={**os.environ, SITE_VARIABLE: site},
    )
