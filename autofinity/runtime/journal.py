"""What a monitor writes down: rows as they happen, in spite of a database that is locked or gone.

Each fact is one small write. What cannot be written now waits and is tried again at the next turn,
in order; what is left at the end goes into a short log beside the database, so that
`autofinity status` can say what was lost. Nothing in here raises, and nothing waits for long.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from autofinity.linux.cpu_lists import format_cpu_list
from autofinity.model.affinity import Affinity, Hint
from autofinity.model.counters import Behaviour
from autofinity.model.errors import StoreError
from autofinity.ports import Interval, Outcome
from autofinity.runtime.decider import LiveState
from autofinity.runtime.decisions import CachedDecision, write_decision
from autofinity.runtime.masks import Binding
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunChanges

_PATIENCE_S = (
    0.05  # for another writer's lock, at each attempt: the end of a run may not be held up
)
_LOG_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom the rows are about."""

    program: str
    """Key of the program."""
    path: str
    pid: int
    tier: str
    threads: int
    """Promised thread count; 0: the count that was seen."""
    policy: str
    """Digest of the policy; empty without one."""
    bind: Binding
    allowed: str
    """CPU list allowed at the start."""
    machine: str = ""
    """Which machine this is (`machine_text`): observations of different ones are never mixed."""


class Journal:
    """Observer of the loop that keeps the behaviour database."""

    def __init__(self, path: Path | None, subject: Subject) -> None:
        """`path` is the database; None keeps nothing."""
        self._path = path
        self._subject = subject
        self._database: BehaviourDB | None = None
        self._pending: deque[Callable[[BehaviourDB], None]] = deque()
        self._run: int | None = None
        self._notes: list[str] = []
        self._trouble = ""
        self._refused = False
        self._write(self._begin)

    def saw(
        self,
        before: LiveState,
        after: LiveState,
        interval: Interval,
        outcome: Outcome | None,
    ) -> None:
        """One turn of the loop."""
        del interval
        for line in after.notes[len(before.notes) :]:
            self.note(line)
        if after.sample is not None and after.sample is not before.sample:
            self._write(lambda database: self._sampled(database, after))
            self._observed(after, after.sampled_in, after.sample)
        if after.probe is not None and after.probe is not before.probe:
            self._observed(after, after.probed_in, after.probe)
        if after.outcome is not None and after.outcome is not before.outcome:
            self._observed(after, after.affinity, after.outcome)
        if outcome is not None:
            self._refused = outcome.skipped > 0
        if after.placed and (after.hint, after.placed) != (before.hint, before.placed):
            bound = outcome.done if outcome else 0
            for reason in outcome.reasons if outcome else ():
                self.note(f"not bound: {reason}")
            self._write(lambda database: self._bound(database, after, bound))
        if after.phase == "placed" and before.phase != "placed":
            self._write(lambda database: self._decided(database, after))
        self._flush()

    def note(self, line: str) -> None:
        """Keep one line about this run."""
        if line not in self._notes:
            self._notes.append(line)
            text = "\n".join(self._notes)
            self._write(lambda database: self._update(database, notes=text))

    def hint_on_record(self, threads: int) -> Hint | None:
        """The hint that this very policy gave this program before; None: none, or no database."""
        if not self._subject.policy:
            return None
        try:
            database = self._opened()
            if database is None:
                return None
            return database.hint(self._subject.program, threads, self._subject.policy)
        except StoreError as error:
            self._trouble = str(error)
            return None

    def end(self, totals: Mapping[str, int]) -> None:
        """The program has ended, with these counts; what could not be written goes to the log."""
        self._write(lambda database: self._update(database, totals=totals, ended=True))
        self._flush()
        if self._pending and self._path is not None:
            self._log(f"{len(self._pending)} rows lost: {self._trouble}")
        if self._database is not None:
            self._database.close()

    def _begin(self, database: BehaviourDB) -> None:
        subject = self._subject
        self._run = database.begin_run(subject.program, subject.path, subject.pid, subject.tier)

    def _sampled(self, database: BehaviourDB, state: LiveState) -> None:
        assert state.sample is not None
        subject = self._subject
        database.remember_sample(
            subject.program,
            subject.path,
            self._threads(state),
            state.sample.values,
            subject.tier,
        )

    def _observed(self, state: LiveState, affinity: Affinity | None, seen: Behaviour) -> None:
        """A row to learn from, unless some thread was not where the affinity says."""
        subject, threads = self._subject, self._threads(state)
        if affinity is None or affinity.threads != threads or self._refused:
            return

        def write(database: BehaviourDB) -> None:
            assert self._run is not None  # rows are written in order, and the run's comes first
            database.remember_observation(
                self._run,
                subject.program,
                threads,
                affinity,
                subject.machine,
                seen.values,
                subject.tier,
            )

        self._write(write)

    def _bound(self, database: BehaviourDB, state: LiveState, bound: int) -> None:
        self._update(database, threads=len(state.placed), hint=state.hint, bound=bound)

    def _decided(self, database: BehaviourDB, state: LiveState) -> None:
        subject, hint = self._subject, state.hint
        if hint is None or not subject.policy:
            return
        threads = self._threads(state)
        if state.sample is not None:
            database.remember_hint(subject.program, threads, hint, subject.policy)
        if subject.bind == "none" or self._path is None:
            return
        decision = CachedDecision(
            program=subject.program,
            threads=threads,
            policy=subject.policy,
            bind=subject.bind,
            hint=hint,
            allowed=subject.allowed,
            mask=format_cpu_list(state.cpus),
        )
        with database.exclusively():
            write_decision(self._path.with_name("decisions"), decision)

    def _threads(self, state: LiveState) -> int:
        return self._subject.threads or len(state.placed)

    def _update(self, database: BehaviourDB, **changes: Unpack[RunChanges]) -> None:
        if self._run is not None:
            database.update_run(self._run, **changes)

    def _write(self, row: Callable[[BehaviourDB], None]) -> None:
        if self._path is not None:
            self._pending.append(row)
            self._flush()

    def _flush(self) -> None:
        try:
            while self._pending:
                database = self._opened()
                if database is None:
                    return
                self._pending[0](database)
                self._pending.popleft()
        except StoreError as error:
            self._trouble = str(error)

    def _opened(self) -> BehaviourDB | None:
        if self._database is None and self._path is not None:
            self._database = BehaviourDB.open(self._path, timeout_s=_PATIENCE_S)
        return self._database

    def _log(self, line: str) -> None:
        assert self._path is not None
        path = self._path.with_name("monitor.log")
        with suppress(OSError):
            if path.exists() and path.stat().st_size > _LOG_BYTES:
                path.unlink()
            with path.open("a", encoding="utf-8") as file:
                stamp = time.strftime("%Y-%m-%dT%H:%M:%S")
                file.write(f"{stamp} {self._subject.path} ({self._subject.pid}): {line}\n")
