"""Runs of this user as they are now: threads, their CPUs, and memory by node. Reads only.

A look costs what its reads cost, so not everything is read at every look: at most
`THREADS_AT_ONCE` threads, those of the wanted run first and those of the other runs in turn; the
processes of a run every `FAMILY_NS`; memory every `MEMORY_NS`, and less often where the kernel
takes long to walk the pages. Everything may vanish between two reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autofinity.linux.memory import memory_of
from autofinity.linux.proc import Task, program_of, resident_bytes_of, tasks_of
from autofinity.model.errors import StoreError
from autofinity.model.memory import MemoryByNode
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.claims import live_runs, monitor_of, process_of
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord

THREADS_AT_ONCE = 256
FAMILY_NS = 5_000_000_000
MEMORY_NS = 10_000_000_000
_MEMORY_SHARE = 1_000
"""Nanoseconds that pass for each that reading memory took."""


@dataclass(frozen=True, slots=True)
class ThreadSeen:
    """One thread."""

    task: Task
    share: float | None = None
    """CPU time over time since the look before, of 1; None at the first look."""


@dataclass(frozen=True, slots=True)
class RunSeen:
    """One run, as it was read last."""

    run: RunRecord
    alive: bool = True
    watched: bool = True
    """Whether its monitor lives."""
    threads: tuple[ThreadSeen, ...] = ()
    memory: MemoryByNode | None = None
    """Its own memory by logical node; None where the kernel does not show it."""
    resident_bytes: int = 0
    """All of its memory, with the files that it maps."""


@dataclass(slots=True)
class _Kept:
    """Facts of a run between looks; times are those of the reads."""

    seen: RunSeen
    pids: list[int] = field(default_factory=list)
    pids_ns: int = -FAMILY_NS
    threads_ns: int = -1
    memory_due_ns: int = 0


class RunsWatcher:
    """Looks at the live runs of a database."""

    def __init__(
        self,
        database: Path,
        topology: Topology,
        only: Callable[[RunRecord], bool] = lambda run: True,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        procfs: str = "/proc",
    ) -> None:
        """`only` chooses runs; `procfs` is where memory is read."""
        self.trouble: StoreError | None = None
        """Why the latest look found no record, or left rows out."""
        self._path = database
        self._topology = topology
        self._only = only
        self._clock_ns = clock_ns
        self._procfs = procfs
        self._kept: dict[int, _Kept] = {}

    def look(self, wanted: int | None = None) -> tuple[RunSeen, ...]:
        """Live runs, newest first; the threads of run number `wanted` are read in any case.

        A run that was seen before and has ended is returned once more, as not alive. Where the
        record cannot be read, the runs before are looked at again (`trouble`).
        """
        before = self._kept
        records = self._records()
        alive = {run.id for run in records}
        ended = [
            replace(kept.seen, alive=False, threads=())
            for number, kept in before.items()
            if number not in alive
        ]
        self._kept = {}
        for run in records:
            kept = before.get(run.id) or _Kept(RunSeen(run))
            kept.seen = replace(kept.seen, run=run, watched=monitor_of(run).alive)
            self._kept[run.id] = kept
        self._read(wanted)
        return (*(kept.seen for kept in self._kept.values()), *ended)

    def _records(self) -> list[RunRecord]:
        self.trouble = None
        if not self._path.exists():  # the first run makes it
            return []
        try:
            with BehaviourDB.open(self._path, read_only=True) as database:
                found = [run for run in live_runs(database) if self._only(run)]
                self.trouble = database.damage
        except StoreError as error:
            self.trouble = error
            return [
                kept.seen.run for kept in self._kept.values() if process_of(kept.seen.run).alive
            ]
        return found

    def _read(self, wanted: int | None) -> None:
        """Read the wanted run, then those that were read the longest time ago."""
        in_turn = sorted(
            self._kept.items(), key=lambda item: (item[0] != wanted, item[1].threads_ns)
        )
        left = THREADS_AT_ONCE
        for number, kept in in_turn:
            if left <= 0 and number != wanted:
                break
            self._read_run(kept)
            left -= max(1, len(kept.seen.threads))

    def _read_run(self, kept: _Kept) -> None:
        now_ns = self._clock_ns()
        if now_ns - kept.pids_ns >= FAMILY_NS or not kept.pids:
            kept.pids = program_of(kept.seen.run.pid)
            kept.pids_ns = now_ns
        tasks = [task for pid in kept.pids for task in tasks_of(pid)]
        elapsed_ns = now_ns - kept.threads_ns if kept.threads_ns >= 0 else 0
        threads = _with_shares(tasks, kept.seen.threads, elapsed_ns)
        kept.threads_ns = now_ns
        kept.seen = replace(kept.seen, threads=threads)
        if now_ns >= kept.memory_due_ns:
            memory = memory_of(kept.pids, self._topology.node_os_indices, self._procfs)
            resident_bytes = sum(map(resident_bytes_of, kept.pids))
            kept.seen = replace(kept.seen, memory=memory, resident_bytes=resident_bytes)
            took_ns = self._clock_ns() - now_ns
            kept.memory_due_ns = now_ns + max(MEMORY_NS, _MEMORY_SHARE * took_ns)


def _with_shares(
    tasks: Iterable[Task], before: Sequence[ThreadSeen], elapsed_ns: int
) -> tuple[ThreadSeen, ...]:
    known = {(seen.task.tid, seen.task.started): seen.task.cpu_ns for seen in before}
    found = []
    for task in tasks:
        then_ns = known.get((task.tid, task.started))
        share = (task.cpu_ns - then_ns) / elapsed_ns if then_ns is not None and elapsed_ns else None
        found.append(ThreadSeen(task, share))
    return tuple(found)


def cpus_of(seen: RunSeen) -> frozenset[OsIndex]:
    """CPUs where the running threads of a run were last; of all threads where none runs."""
    running = frozenset(each.task.cpu for each in seen.threads if each.task.runnable)
    return running or frozenset(each.task.cpu for each in seen.threads)
