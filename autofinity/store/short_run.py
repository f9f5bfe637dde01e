"""The latest run that ended before its monitor had begun: it has no row in the database.

The launcher names it in a file beside the database (native/launcher/short_run.c):

    autofinity-short-run 1
    ENDED_NS PID
    PATH
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from autofinity.private_file import read_private

SUFFIX = ".short-run"
"""Added to the name of the database: the name of the file."""
SHORT_S = 0.15
"""How long a program has to live for its monitor to begin."""
_AHEAD_NS = 60_000_000_000
_FORM = re.compile(rb"autofinity-short-run 1\n(\d{1,19}) (\d{1,10})\n([^\0]+)\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ShortRun:
    """A run that was too short for a row."""

    path: str
    pid: int
    ended: float
    """Seconds since the epoch."""


def latest_short_run(database: Path) -> ShortRun | None:
    """The latest short run on record beside this database. None where there is no record, or a
    file that autofinity did not write.
    """
    try:
        found = _FORM.fullmatch(read_private(database.with_name(database.name + SUFFIX)))
    except OSError:
        return None
    if found is None:
        return None
    ended_ns, pid, path = found.groups()
    if int(ended_ns) > time.time_ns() + _AHEAD_NS:  # by a clock that was wrong
        return None
    return ShortRun(path.decode("utf-8", "surrogateescape"), int(pid), int(ended_ns) / 1e9)
