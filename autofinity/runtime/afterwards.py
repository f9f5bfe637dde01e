"""Commands that a monitor starts when the program has ended, and nobody waits for."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from autofinity.own_python import own_environment, own_python
from autofinity.private_file import open_private


def start_afterwards(
    log_path: Path, *words: str, environment: Mapping[str, str] | None = None
) -> None:
    """Start `autofinity WORDS` in a session of its own, niced, without waiting for it.

    Its output goes into the log, a file of this user alone. This process becomes nice, too: call it
    last. Raises `OSError`.
    """
    os.nice(19)  # ours, and inherited
    # The child inherits the descriptor: it opens no name that could by then lead elsewhere.
    log = open_private(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    try:
        os.posix_spawn(
            sys.executable,
            own_python("autofinity", *words),
            own_environment(os.environ if environment is None else environment),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    finally:
        os.close(log)
