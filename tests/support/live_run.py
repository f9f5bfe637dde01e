"""Programs under the launcher, and the database's records of them."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autofinity.model.errors import StoreError
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord

_PR_SET_CHILD_SUBREAPER = 36
MONITORS = {b"autofinity.runtime.monitor", b"autofinity.mechanisms.monitor"}


@contextmanager
def preferred() -> Iterator[None]:
    """This thread and what it starts in the block have a higher priority than everything else here,
    where that is permitted.

    A thread of a program that gets less than a tenth of a CPU counts as idle, and nothing is ever
    decided about it. And commands that are asked about a program that keeps all CPUs busy would
    starve beside it, had they not its priority.
    """
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, before - 10)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


def become_subreaper() -> None:
    """For `preexec_fn`: orphans below the program become its children."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@dataclass(frozen=True)
class Runner:
    """Starts programs under the launcher, with a state folder of their own."""

    launcher: Path
    state: Path
    env: dict[str, str]
    patience_s: float = 120.0
    """A limit that no loaded machine reaches."""
    look_s: float = 0.02
    """Time between two checks of a test's condition."""

    @classmethod
    def within(cls, folder: Path, launcher: Path) -> Runner:
        """A runner with state and configuration below `folder`; programs get nothing of the
        caller's.
        """
        env = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
        env |= {
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "AUTOFINITY_PYTHON": sys.executable,
        }
        env.pop("AUTOFINITY_POLICY", None)
        return cls(launcher, folder / "state", env)

    @property
    def db(self) -> Path:
        return self.state / "autofinity" / "behaviour.db"

    def command(self, *arguments: str | bytes | Path) -> list[str | bytes | Path]:
        return [self.launcher, "run", *arguments]

    def __call__(
        self, *arguments: str | bytes | Path, **options: object
    ) -> subprocess.CompletedProcess[bytes]:
        options.setdefault("env", self.env)
        return subprocess.run(self.command(*arguments), capture_output=True, timeout=300, **options)  # type: ignore[call-overload,no-any-return]

    def start(self, *arguments: str | bytes | Path, **options: object) -> subprocess.Popen[bytes]:
        options.setdefault("env", self.env)
        return subprocess.Popen(self.command(*arguments), **options)  # type: ignore[call-overload,no-any-return]

    @contextmanager
    def lasting(
        self, *arguments: str | bytes | Path, **options: object
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A program that would run for minutes, `preferred`; it ends when the test leaves the
        block.
        """
        with preferred(), self.start(*arguments, **options) as process:
            try:
                yield process
            finally:
                process.kill()

    @staticmethod
    def on_two_cpus() -> None:
        """For `preexec_fn`: only two CPUs are allowed."""
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])

    def last(self) -> RunRecord | None:
        """The latest recorded run."""
        try:
            with BehaviourDB.open(self.db, read_only=True) as database:
                return next(iter(database.runs()), None)
        except StoreError:  # the monitor is just making it
            return None

    def placed(self) -> RunRecord | None:
        """The latest run, once its threads are placed."""
        found = self.last()
        return found if found is not None and found.phase == "placed" else None

    @staticmethod
    def monitors_of(pid: int) -> list[int]:
        """Python monitors that watch `pid`."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if not MONITORS.isdisjoint(words) and str(pid).encode() in words:
                    found.append(int(entry.name))
        return found

    def eventually[T](self, ask: Callable[[], T]) -> T:
        """The first true answer within our patience; else the last answer."""
        end = time.monotonic() + self.patience_s
        while True:
            answer = ask()
            if answer or time.monotonic() > end:
                return answer
            time.sleep(self.look_s)


def last_run(run: Runner) -> Any:
    """The latest run, as `explain last --json` has it."""
    words = [run.launcher, "explain", "last", "--json"]
    return json.loads(subprocess.run(words, env=run.env, capture_output=True).stdout)["run"]
