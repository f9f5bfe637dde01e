"""Starts a rebuild of the user's policy when the program has ended."""

from __future__ import annotations

from pathlib import Path

from autofinity.runtime.afterwards import start_afterwards
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.rebuild_mark import RebuildMark


def start_rebuild_if_due(db: Path) -> None:
    """Start `autofinity rebuild --if-due`; its output goes into `rebuild.log` beside the database.

    Raises `StoreError`, `OSError`.
    """
    with BehaviourDB.open(db, timeout_s=0.05, read_only=True) as database:
        if not RebuildMark(database.session).due():
            return
    start_afterwards(db.with_name("rebuild.log"), "rebuild", "--if-due", "--db", str(db))
