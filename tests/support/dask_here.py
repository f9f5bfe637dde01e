"""A Dask scheduler and workers on this machine, each a process, and tasks for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from autofinity.model.errors import SimulationError

PYTHON = (sys.executable, "-m")
LOOPBACK = "127.0.0.1"
ENOUGH_S = 600
"""Longest time that a test waits for what comes in seconds on an idle machine."""


def eventually(holds: Callable[[], bool], within_s: float = ENOUGH_S) -> bool:
    """Whether it comes to hold."""
    end_s = time.monotonic() + within_s
    while time.monotonic() < end_s:
        if holds():
            return True
        time.sleep(0.02)
    return False


@dataclass
class Cluster:
    """A scheduler, and workers with one thread each and no nanny that would start them again."""

    folder: Path
    protocol: str = "tcp"
    env: Mapping[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    port: int = 0

    @property
    def place(self) -> str:
        """As `--on` names it."""
        return f"{'tls' if self.protocol == 'tls' else 'dask'}://{LOOPBACK}:{self.port}"

    def begin(self) -> None:
        """Start the scheduler."""
        known = self.folder / "scheduler.json"
        self._start(
            *("dask_scheduler", "--host", f"{self.protocol}://{LOOPBACK}", "--port", "0"),
            *("--no-dashboard", "--scheduler-file", str(known)),
        )
        assert eventually(known.exists), self.said()
        assert eventually(lambda: b'"address"' in known.read_bytes())
        self.port = int(known.read_text().split(LOOPBACK + ":")[1].split('"')[0])

    def add(self, workers: int, env: Mapping[str, str] | None = None) -> None:
        """Start workers; they are there when a client sees them."""
        for _ in range(workers):
            number = len(self.workers)
            self.workers.append(
                self._start(
                    *("dask_worker", f"{self.protocol}://{LOOPBACK}:{self.port}"),
                    *("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", LOOPBACK),
                    *("--local-directory", str(self.folder / f"worker{number}")),
                    **(env or {}),
                )
            )

    def kept_traces(self) -> list[Path]:
        """Folders of the traces that workers were sent."""
        return sorted(self.folder.glob("worker*/**/autofinity-traces/*"))

    def scheduler_state(self) -> tuple[int, int]:
        """Number of tasks and of clients (beside the client that looks) on the scheduler."""
        from distributed import Client

        with Client(self.place.replace("dask:", "tcp:"), set_as_default=False) as client:
            tasks, clients = client.run_on_scheduler(
                lambda dask_scheduler: (
                    len(dask_scheduler.tasks),
                    [c for c in dask_scheduler.clients if c != "fire-and-forget"],
                )
            )
        return tasks, len(clients) - 1

    def said(self) -> str:
        """All that the processes have written."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def _start(self, command: str, *words: str, **env: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"{len(self.processes)}-{command}.log"
        with log.open("w") as out:
            process = subprocess.Popen(
                [*PYTHON, f"distributed.cli.{command}", *words],
                cwd=self.folder,
                env={**os.environ, **self.env, **env},
                stdout=out,
                stderr=out,
            )
        self.processes.append(process)
        return process


@contextmanager
def cluster(
    folder: Path, workers: int, protocol: str = "tcp", env: Mapping[str, str] | None = None
) -> Iterator[Cluster]:
    """A cluster that ends with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    here = {
        "PYTHONPATH": str(Path(__file__).parent),
        "DASK_TEMPORARY_DIRECTORY": str(folder),
        **(env or {}),
    }
    started = Cluster(folder, protocol, here)
    try:
        started.begin()
        started.add(workers)
        yield started
    finally:
        # The scheduler ends last: a worker that loses it while it ends leaves its files.
        for ending in (started.processes[1:], started.processes[:1]):
            _end(ending)


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
    for process in processes:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True)
class Plain:
    """A task without traces: what it does is a word."""

    what: str
    traces: tuple[str, ...] = ()
    hands_out: bool = False

    @property
    def label(self) -> str:
        return self.what

    def work(self, context: str, folders: Mapping[str, str]) -> str:
        if self.what == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.what == "fails":
            raise SimulationError("deadlock")
        if self.what == "lasts":
            time.sleep(1)
        return f"{context} {self.what} {sorted(folders.values())}"
