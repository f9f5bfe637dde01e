"""Sends finished runs from the spool, the behaviour database of this host, to a site's database.

Runs are marked as sent when the site has them durably. A sender that is killed in between sends
them again, which changes nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.errors import StoreError
from autofinity.private_file import locked
from autofinity.runtime.sending import SEND_LOCK
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import default_path, refuse_foreign
from autofinity.store.site_address import site_name
from autofinity.store.site_connection import RefusedRunError
from autofinity.store.site_db import SiteDB
from autofinity.store.spool import Spool, SpooledRun

_RUNS_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Pushed:
    """Result of a sender."""

    site: str
    """The site's URL without its password."""
    sent: int
    refused: tuple[str, ...] = ()
    """Runs that the site takes from nobody, one line each; they stay here."""
    busy: bool = False
    """Whether another sender was at work, which sends what waits."""


def push(url: str, database: Path | None = None, *, everything: bool = False) -> Pushed:
    """Send the finished runs that wait for this site, by default from the state folder.

    With `everything` all finished runs are sent that no site has yet, whether or not they began
    under a site. Raises `StoreError`: what was not sent waits for the next time.
    """
    path = database or default_path()
    name = site_name(url)
    if not path.exists():
        return Pushed(name, 0)
    refuse_foreign(path)
    wanted = None if everything else name
    sent = 0
    refused: list[str] = []
    with BehaviourDB.open(path) as opened:
        spool = Spool(opened.session)
        while True:
            with _only_sender(path) as ours:
                if not ours:
                    return Pushed(name, sent, tuple(refused), busy=True)
                sent += _send_all(spool, url, wanted, refused)
            # A run that ended just now left its row to us, if it found the lock held.
            if everything or not spool.waiting(wanted, 1):
                return Pushed(name, sent, tuple(refused))


@contextmanager
def _only_sender(path: Path) -> Iterator[bool]:
    """Whether no other sender is at work, nor begins to be. Raises `StoreError`."""
    try:
        with locked(path.with_name(SEND_LOCK)) as ours:
            yield ours
    except OSError as error:
        raise StoreError(f"cannot lock the spool {path}: {error}") from error


def _send_all(spool: Spool, url: str, wanted: str | None, refused: list[str]) -> int:
    """Send all that waits; return the number of runs that the site has now."""
    if not spool.waiting(wanted, 1):
        return 0
    with SiteDB.open(url) as site:
        site.check()
        return _send_batches(spool, site, wanted, refused)


def _send_batches(spool: Spool, site: SiteDB, wanted: str | None, refused: list[str]) -> int:
    sent, after = 0, None
    while runs := spool.waiting(wanted, _RUNS_AT_ONCE, after):
        after = runs[-1].number
        try:
            site.send(runs)
        except RefusedRunError:
            sent += _one_by_one(spool, site, runs, refused)
        else:
            spool.mark_sent(runs)
            sent += len(runs)
    return sent


def _one_by_one(spool: Spool, site: SiteDB, runs: Sequence[SpooledRun], refused: list[str]) -> int:
    """Send runs of which one at least is refused, so that it does not hold up the others."""
    sent = 0
    for each in runs:
        try:
            site.send([each])
        except RefusedRunError as error:
            refused.append(f"run {each.number}: {error}")
            spool.mark_refused([each])
        else:
            spool.mark_sent([each])
            sent += 1
    return sent
