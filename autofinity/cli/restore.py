"""`autofinity restore`: give threads back the masks they had before they were bound."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.pid import Pid
from autofinity.cli.options.run import database_option
from autofinity.cli.printer import say, say_json
from autofinity.foreign_text import one_line
from autofinity.model.errors import CapabilityError, UsageError
from autofinity.runtime.claims import live_runs
from autofinity.runtime.restore import restore
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.workflow.run_records import database_named


@click.command(cls=Command)
@click.argument("pid", type=Pid(), required=False)
@database_option
@json_option
def command(pid: int | None, db: Path | None, as_json: bool) -> None:
    """Restore the CPU masks of the program PID, or of all running programs of `autofinity status`.

    The monitors end, and the programs continue. A thread that another program has pinned in between
    keeps its mask.
    """
    document = []
    refused: Counter[str] = Counter()
    with BehaviourDB.open(database_named(db)) as database:
        # The newest first: an older run's masks are what a newer one found.
        runs = [run for run in live_runs(database) if pid in (None, run.pid)]
        damage = database.damage
        if pid is not None and not runs:
            if damage is not None:
                raise damage
            raise UsageError(f"no live run of process {pid} is on record; see `autofinity status`")
        for run in runs:
            restored = restore(database, run)
            document.append({"run": run.id, "pid": run.pid, **asdict(restored)})
            refused.update(restored.refused)
            if not as_json:
                left = f"; {restored.pinned} pinned by others" if restored.pinned else ""
                say(f"{one_line(run.path)} (pid {run.pid}): {restored.done} threads restored{left}")
    if as_json:
        say_json(document, indent=2)
    elif not runs:
        say("no running program has masks to restore")
    if refused:
        reasons = ", ".join(f"{count} × {reason}" for reason, count in refused.items())
        raise CapabilityError(f"some masks were not restored: {reasons}")
    if damage is not None:
        raise damage
