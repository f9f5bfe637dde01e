"""Finished runs in spools, for tests of a site's database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autofinity.model.affinity import PACKED, Affinity
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.site_address import site_name

TIER = "hardware counters"
SAMPLE = {"instructions": 1.5e9, "ipc": 0.75}
MACHINE = "sockets:1 llcs:2 cores:4 pus:4 nodes:1 Made-up CPU"


def spooled(
    spool: Path,
    url: str,
    runs: int = 1,
    *,
    program: str = "k",
    path: str = "/bin/k",
    machine: str = MACHINE,
    observations: int = 2,
    ended: bool = True,
) -> None:
    """Add runs to a spool as a monitor would: those with a URL wait for that site."""
    with BehaviourDB.open(spool, timeout_s=30) as database:
        for _ in range(runs):
            run = database.begin_run(
                program, path, 42, TIER, machine=machine, site=site_name(url), allowed="0-3"
            )
            for affinity in ("{2}{1}", "{3}", "{1}{1}{1}")[:observations]:
                database.remember_observation(
                    run, program, 3, Affinity.parse(affinity), machine, SAMPLE, TIER
                )
            database.update_run(
                run, threads=3, hint=PACKED, bound=3, sample=SAMPLE, notes="a note", ended=ended
            )


def count(connection: Any, question: str) -> Any:
    """The only value of a question's only row."""
    row = connection.execute(question).fetchone()
    assert row is not None
    return row[0]
