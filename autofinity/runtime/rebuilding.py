"""Starts a rebuild of the user's policy when the program has ended."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from autofinity.own_python import own_environment, own_python
from autofinity.private_file import open_private
from autofinity.store.behaviour_db import BehaviourDB


def start_rebuild_if_due(db: Path) -> None:
    """Start `autofinity rebuild --if-due` in a session of its own, niced, without waiting for it.

    Its output goes into `rebuild.log` beside the database. Raises `StoreError`, `OSError`.
    """
    with BehaviourDB.open(db, timeout_s=0.05, read_only=True) as database:
        if not database.rebuild_due():
            return
    os.nice(19)  # ours, and inherited: this process has nothing left to do
    os.closerange(3, 256)  # descriptors of the program that has ended
    # The child inherits the descriptor: it opens no name that could by then lead elsewhere.
    log = open_private(db.with_name("rebuild.log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.posix_spawn(
        sys.executable,
        own_python("autofinity", "rebuild", "--if-due", "--db", str(db)),
        own_environment(os.environ),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, log, 1),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
