"""The monitor's records: each fact of a run is one small row, written as the fact arises.

Nothing in this module raises an error of the database or waits for long (`row_queue`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from autofinity.linux.identity import identity_of
from autofinity.linux.machine_key import machine_key
from autofinity.linux.thread_masks import MaskChange
from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.answer_on_record import AnswerOnRecord, SeatOrder
from autofinity.model.counters import Behaviour
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Interval, Outcome
from autofinity.runtime.claims import (
    Pick,
    Reserved,
    expire,
    reserve_alone,
    reserve_beside_others,
    write_claims,
)
from autofinity.runtime.creation_seats import (
    masks_of_next_run,
    order_of_next_run,
    seats_text,
    starting_masks,
)
from autofinity.runtime.decisions import ANY, CachedDecision, write_decision
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.look_nodes import LookNodes
from autofinity.runtime.look_series import LookSeries, look_of
from autofinity.runtime.masks import union
from autofinity.runtime.row_queue import RowQueue
from autofinity.runtime.run_header import RunHeader
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import MaskRecord, RunChanges

_MOST_NOTES = 200
_LONGEST_NOTE = 1200
"""In characters. All notes together stay below the longest value of the database, 1 MiB."""
_MOST_ENDED = 256
"""Threads that have ended whose masks are on record. A program may start threads for days."""
_LEFT_OUT = "notes are left out here: there were too many"


class Journal:
    """Observer of the loop that keeps the behaviour database."""

    def __init__(
        self, path: Path | None, header: RunHeader, topology: Topology | None = None
    ) -> None:
        """`path` is the database; with None nothing is kept. Without `topology`, no node of a read
        is known.
        """
        self._header = header
        self._rows = RowQueue(path, f"{header.path} ({header.pid})")
        self._run: int | None = None
        self._notes: list[str] = []
        self._claims = False  # whether it may ever have claimed cores
        self._refused = False
        self._kept_on: frozenset[OsIndex] = frozenset()
        self._with_mask: set[int] = set()
        """Threads whose masks are on record."""
        self._ended_with_mask: set[int] = set()
        self._series = LookSeries()
        self._nodes = LookNodes(topology) if topology is not None else None
        self._topology = topology
        self._rows.write(self._begin)

    def saw(
        self,
        before: LiveState,
        after: LiveState,
        interval: Interval,
        outcome: Outcome | None,
    ) -> None:
        """Record one turn of the loop."""
        if self._rows.path is not None:
            self._looked(before, after, interval)
            self._forget_masks(interval)
        for line in after.notes[len(before.notes) :]:
            self.note(line)
        was, samples = before.samples, after.samples
        if samples.asked is not None and samples.asked is not was.asked:
            self._rows.write(lambda database: self._asked(database, after))
        if samples.start is not None and samples.start is not was.start:
            self._rows.write(lambda database: self._sampled(database, after))
            self._observed(after, samples.start_in, samples.start)
        if samples.probe is not None and samples.probe is not was.probe:
            self._observed(after, samples.probe_in, samples.probe)
        if samples.outcome is not None and samples.outcome is not was.outcome:
            self._observed(after, after.placed.affinity, samples.outcome)
        bound = outcome.bound if outcome else 0
        if outcome and (bound or outcome.refused):  # where only pages moved, masks are as before
            self._refused = outcome.refused > 0
            for reason in outcome.reasons:
                self.note(f"not bound: {reason}")
        if after.placed.threads and _where(after) != _where(before):
            self._rows.write(lambda database: self._bound(database, after, bound))
        # A placement that was undone is not to be tried by the next run either.
        if after.phase == "placed" and (
            before.phase != "placed"
            or (after.refuted, after.order.now) != (before.refuted, before.order.now)
        ):
            self._rows.write(lambda database: self._decided(database, after))
        if after.phase != before.phase:  # last: who reads of a phase reads all of what led to it
            self._rows.write(lambda database: self._moved_on(database, after))
        keeps = after.phase == "placed" and self._header.bind != "none" and not self._refused
        self._kept_on = after.placed.cpus if keeps else frozenset()
        self._rows.flush()

    def note(self, line: str) -> None:
        """Keep one line about this run; where there are too many, the first and the last lines."""
        line = line[:_LONGEST_NOTE]
        if line not in self._notes:
            self._notes.append(line)
            if len(self._notes) > _MOST_NOTES:
                middle = _MOST_NOTES // 2
                self._notes[middle : middle + 2] = [_LEFT_OUT]
            self._rows.write(self._noted)

    def answer_on_record(self, threads: int) -> AnswerOnRecord | None:
        """The answer that this very policy gave for this program before, on CPUs like these; None
        without such an answer or database.
        """
        header = self._header
        if not header.policy:
            return None
        return self._rows.ask(
            lambda database: database.answer(header.program, threads, header.policy, header.place)
        )

    def keep_masks(self, changes: Sequence[MaskChange]) -> None:
        """Keep the masks that threads had before they are bound, so that `autofinity restore` can
        restore them.
        """
        if self._rows.path is None:
            return
        rows = [
            MaskRecord(
                each.tid,
                each.start_ticks,
                format_cpu_list(each.before),
                format_cpu_list(each.given),
            )
            for each in changes
        ]

        tids = {each.tid for each in changes}
        self._with_mask |= tids
        self._ended_with_mask -= tids

        def write(database: BehaviourDB) -> None:
            if self._run is not None:
                database.masks.remember(self._run, rows)

        self._rows.write(write)

    def _forget_masks(self, interval: Interval) -> None:
        ended, begun = (
            {event.tid for event in interval.thread_events if event.kind == kind}
            for kind in ("end", "begin")
        )
        self._ended_with_mask |= (ended - begun) & self._with_mask
        if len(self._ended_with_mask) <= _MOST_ENDED:
            return
        tids = sorted(self._ended_with_mask)
        self._with_mask -= self._ended_with_mask
        self._ended_with_mask.clear()

        def write(database: BehaviourDB) -> None:
            if self._run is not None:
                database.masks.forget_threads(self._run, tids)

        self._rows.write(write)

    def reserve(
        self, topology: Topology, threads: int, available: frozenset[OsIndex], pick: Pick
    ) -> Reserved:
        """Reserve cores that no other run claims (`reserve_beside_others`). Without a database, or
        when it is locked, cores are chosen as if nothing else ran here.
        """

        def beside_others(database: BehaviourDB) -> Reserved | None:
            if self._run is None:
                return None
            self._claims = True
            return reserve_beside_others(database, self._run, topology, threads, available, pick)

        self._rows.flush()
        return self._rows.ask(beside_others) or reserve_alone(threads, available, pick)

    def end(self, totals: Mapping[str, int]) -> None:
        """Record the end of the program, with these counts; unwritten rows go to the log."""
        self._keep_looks()
        self._rows.write(lambda database: self._ended(database, totals))
        self._rows.close()

    def leave(self) -> None:
        """Stop watching a program that lives on: its masks and its claim stay."""
        self._keep_looks()
        self._rows.write(lambda database: self._update(database, phase="detached"))
        self._rows.close()

    def _begin(self, database: BehaviourDB) -> None:
        expire(database)
        header = self._header
        program, monitor = identity_of(header.pid), identity_of(os.getpid())
        self._run = database.begin_run(
            header.program,
            header.path,
            header.pid,
            header.tier,
            started=header.started or time.time(),
            host=program.host,
            start_ticks=program.start_ticks,
            monitor_pid=monitor.pid,
            monitor_ticks=monitor.start_ticks,
            policy=header.policy,
            policy_path=header.policy_path,
            allowed=header.allowed,
            machine=header.machine,
            site=header.site,
        )
        if header.earlier_run:
            database.take_over(header.earlier_run, self._run)

    def _moved_on(self, database: BehaviourDB, state: LiveState) -> None:
        # A program that is left alone runs anywhere: its claim is released.
        left_alone = state.phase == "left alone"
        self._update(database, phase=state.phase, cpus="" if left_alone else None)
        if left_alone:
            self._publish_claims(database)

    def _asked(self, database: BehaviourDB, state: LiveState) -> None:
        assert state.samples.asked is not None
        sample, probe = state.samples.asked
        self._update(database, sample=sample.values, probe=probe.values if probe else {})

    def _ended(self, database: BehaviourDB, totals: Mapping[str, int]) -> None:
        cpus = format_cpu_list(self._kept_on)
        self._update(database, totals=totals, phase="ended", cpus=cpus, ended=True)
        if self._run is not None:
            database.masks.forget(self._run)
        self._publish_claims(database)

    def _publish_claims(self, database: BehaviourDB) -> None:
        """Write claims to the file that launchers read, so that they do not avoid cores that are
        free again.
        """
        if self._claims:
            with database.exclusively():
                write_claims(database)

    def _sampled(self, database: BehaviourDB, state: LiveState) -> None:
        assert state.samples.start is not None
        header = self._header
        database.remember_sample(
            header.program,
            header.path,
            self._threads(state),
            state.samples.start.values,
            header.tier,
            header.place,
        )

    def _observed(self, state: LiveState, affinity: Affinity | None, seen: Behaviour) -> None:
        """Record a row to learn from, unless some thread was not where the affinity puts it."""
        header, threads = self._header, self._threads(state)
        if affinity is None or affinity.threads != threads or self._refused:
            return

        def write(database: BehaviourDB) -> None:
            if self._run is None:  # the run's own row was refused
                return
            database.remember_observation(
                self._run,
                header.program,
                threads,
                affinity,
                header.machine,
                seen.values,
                header.tier,
            )

        self._rows.write(write)

    def _looked(self, before: LiveState, after: LiveState, interval: Interval) -> None:
        placed = before.placed
        place = str(placed.affinity) if placed.threads and placed.affinity is not None else ""
        look = look_of(before.workers.alive, interval)
        if self._nodes is not None:
            look = self._nodes.added(look, interval)
        self._series.add(look, place)
        if after.phase != before.phase or self._series.is_due:
            self._keep_looks()

    def _keep_looks(self) -> None:
        self._rows.write(self._seen)

    def _seen(self, database: BehaviourDB) -> None:
        """Write the looks until now, so that one such row at most has to wait."""
        if self._run is not None:
            database.looks.remember(self._run, self._series.looks())

    def _noted(self, database: BehaviourDB) -> None:
        """Write the notes until now, likewise."""
        self._update(database, notes="\n".join(self._notes))

    def _bound(self, database: BehaviourDB, state: LiveState, bound: int) -> None:
        placed = state.placed
        self._update(database, threads=len(placed.threads), hint=placed.hint, bound=bound)

    def _decided(self, database: BehaviourDB, state: LiveState) -> None:
        header, hint = self._header, state.placed.hint
        if hint is None or not header.policy or state.unasked:
            return
        threads = self._threads(state)
        answer = AnswerOnRecord(hint, self._order(state))
        database.remember_answer(header.program, threads, answer, header.policy, header.place)
        # Cores chosen beside other runs are no answer for a start on a free machine, and cores
        # chosen near a device none for a start without one.
        elsewhere = state.placed.crowded or header.divided or header.near
        if header.bind == "none" or elsewhere:
            return
        decision = CachedDecision(
            program=header.program,
            threads=threads,
            policy=header.policy,
            bind=header.bind,
            machine=machine_key(),
            hint=hint,
            # The cpuset may have changed since the program began.
            allowed=format_cpu_list(state.placed.allowed) or header.allowed,
            mask=format_cpu_list(state.placed.cpus),
        )
        with database.exclusively():
            write_decision(database.path.with_name("decisions"), *self._with_seats(decision, state))

    def _with_seats(self, decision: CachedDecision, state: LiveState) -> Iterator[CachedDecision]:
        """The decision with the seats of the next run, and the seats that unknown programs start
        on, where one of so many threads was sampled.
        """
        topology, bind = self._topology, self._header.bind
        if topology is None or self._refused:  # a program that pins threads does so the next time
            yield decision
            return
        yield replace(decision, seats=seats_text(masks_of_next_run(topology, state, bind)))
        # A lone second thread may go on to make all others, as in Java.
        whole = 3 <= decision.threads == len(state.placed.threads) and bind == "llc"
        if state.samples.start is None or not whole:
            return
        start = starting_masks(topology, decision.threads, state.placed.allowed, bind)
        if start:
            mask, seats = format_cpu_list(union(start)), seats_text(start)
            any_program = replace(decision, program=ANY, policy=ANY, hint=SPREAD)
            yield replace(any_program, mask=mask, seats=seats)

    def _order(self, state: LiveState) -> SeatOrder:
        topology = self._topology
        return state.order.now if topology is None else order_of_next_run(topology, state)

    def _threads(self, state: LiveState) -> int:
        return self._header.threads or len(state.placed.threads)

    def _update(self, database: BehaviourDB, **changes: Unpack[RunChanges]) -> None:
        if self._run is not None:
            database.update_run(self._run, **changes)


def _where(state: LiveState) -> tuple[Hint | None, tuple[int, ...], frozenset[OsIndex]]:
    return state.placed.hint, state.placed.threads, state.placed.cpus
