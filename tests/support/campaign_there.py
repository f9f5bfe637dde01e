"""Campaigns sent to workers elsewhere, and what this machine gives in their place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dask_here import ENOUGH_S, eventually
from warm_commands import run_warm

COMMAND = (sys.executable, "-m", "autofinity", "profile")
CAMPAIGN = (
    *("--machine", "xeon-e5-2650", "-t", "4", "--size", "tiny", "-p", "stencil"),
    *("--affinities", "all", "--no-baselines", "--period-us", "20"),
)


@dataclass(frozen=True)
class Elsewhere:
    """Workers that a user can send runs to."""

    on: str
    """As `--on` names them."""
    at_rest: Callable[[], bool]
    """Whether nothing of a campaign is left there."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that the user has set."""
    interruptions: tuple[signal.Signals, ...] = (signal.SIGINT,)
    """Those after which nothing may be left there."""


def profile(*words: str, env: Mapping[str, str], code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a campaign. Raises AssertionError unless it ends with `code`, without a traceback."""
    done = run_warm(("profile", *words), env={**os.environ, **env}, timeout_s=ENOUGH_S)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def recorded(work: Path) -> int:
    """Number of files of observations."""
    return len(list((work / "observations").rglob("*.parquet")))


def interrupted(
    words: tuple[str, ...], work: Path, env: Mapping[str, str], number: signal.Signals
) -> None:
    """A campaign that the signal ends when some more runs are recorded."""
    more = recorded(work) + 3
    command = [*COMMAND, *words, "--work", str(work)]
    with subprocess.Popen(command, env={**os.environ, **env}, stderr=subprocess.PIPE) as process:
        try:
            assert eventually(lambda: recorded(work) >= more)
            process.send_signal(number)
            _, said = process.communicate(timeout=ENOUGH_S)
        finally:
            process.kill()
    assert process.returncode == -number, said
    assert b"Traceback" not in said


def digest_here(words: tuple[str, ...], there: Path, here: Path) -> str:
    """Result of a campaign of this machine, in `here`, from the traces of the one in `there`."""
    here.mkdir()
    (here / "traces").symlink_to(there / "traces")
    done = profile(*words, "--work", str(here), "--json", env={})
    digest: str = json.loads(done.stdout)["digest"]
    return digest
