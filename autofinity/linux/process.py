"""`ports.Process` on a running program: sleep and look, then bind.

    advance: poll(pidfd) ─► /proc (threads, CPU time, faults, switches) + perf (per thread)
                            + page faults (who shares with whom), where a sensor is given
    apply:   sched_setaffinity per thread; what others pinned is seen and left alone
             move_pages, in batches

Threads are numbered by creation, those of descendants included; the number of a thread that ended
is used again. Threads whose name says that they serve a runtime are never numbered. A thread counts
as pinned by somebody else when its mask is neither the program's own from the start nor one that
this object has set.
"""

from __future__ import annotations

import os
import select
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autofinity.linux.bind import allowed_now, bind_thread, mask_of
from autofinity.linux.event_tables import Encoding, core_pmus
from autofinity.linux.pages import move
from autofinity.linux.perf import SeveralPmus, ThreadCounters, open_on_kinds
from autofinity.linux.proc import Task, family_of, switches_of, tasks_of, times_of
from autofinity.model.counters import CounterSample
from autofinity.model.errors import CapabilityError
from autofinity.model.sharing import NumaVectors, SharingMatrix, by_process, process_and_page
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, BindThreads, Interval, MovePages, Outcome, ThreadEvent

if TYPE_CHECKING:
    from autofinity.linux.fault_sensor import FaultSensor  # loads the native core

_NS_PER_MS = 1_000_000
_FAMILY_NS = 400 * _NS_PER_MS  # between two searches for new descendants
_LEAST_REST = 100  # times what a look costs, between two looks
_SMALL_PAGE_BYTES = 4096  # what page numbers count in
_FRESH_NS = 10 * _NS_PER_MS  # a look is not repeated within this time: /proc costs 40 µs a thread

SOFTWARE_EVENTS: Mapping[str, str] = {
    "task_clock_ns": "nanoseconds on a CPU",
    "run_delay_ns": "nanoseconds it could run and had to wait for a CPU",
    "page_faults": "page faults, with and without I/O",
    "context_switches": "times it waited or was preempted",
    "preemptions": "times it was preempted",
}
"""Names of what /proc counts for each thread → meaning."""


@dataclass(frozen=True, slots=True)
class MaskChange:
    """What a thread is about to be given."""

    tid: int
    start_ticks: int
    """When the thread began: tids are used again."""
    before: frozenset[OsIndex]
    """What it might run on before anybody here bound it."""
    given: frozenset[OsIndex]


class LinuxProcess:
    """A program that runs already, watched from another process of the same user."""

    def __init__(
        self,
        pid: int,
        pidfd: int,
        allowed_at_start: frozenset[OsIndex],
        counters: Mapping[str, Encoding] | None = None,
        ours: frozenset[frozenset[OsIndex]] = frozenset(),
        keep_masks: Callable[[Sequence[MaskChange]], None] = lambda changes: None,
        faults: FaultSensor | None = None,
        node_os_indices: Sequence[OsIndex] = (),
    ) -> None:
        """`ours` are masks that count as given by us: before exec, or by an earlier watch.
        `keep_masks` is told of each change before it is made, so that it can be put back
        whatever happens to us. `faults` is closed with the process; `node_os_indices` are the
        kernel's numbers of the nodes that pages may be moved to.
        """
        self._pid = pid
        self._poll = select.poll()
        self._poll.register(pidfd, select.POLLIN)
        self._at_start = allowed_at_start
        # Beside a PID 1 or a subreaper the monitor and its native half are the program's children.
        self._not_the_program = frozenset({os.getpid(), os.getppid()} - {pid})
        self._counters = dict(counters or {})
        self._pmus = core_pmus() if self._counters else ()
        self._open: dict[int, ThreadCounters | SeveralPmus] = {}
        self._numbers: dict[int, int] = {}
        self._tasks: dict[int, Task] = {}
        self._switches: dict[int, tuple[int, int]] = {}
        self._times: dict[int, tuple[int, int]] = {}
        self._ours = {allowed_at_start, *ours}
        self._bound: dict[int, frozenset[OsIndex]] = {}
        self._keep_masks = keep_masks
        self._faults = faults
        self._node_os_indices = tuple(node_os_indices)
        self._ended = False
        self._looked_at = -_FRESH_NS - 1
        self._look_cost_ns = 0
        self._family: list[int] = []
        self._family_at = -_FAMILY_NS - 1
        self.notes: list[str] = []
        """What went less well than asked, one line each, in order."""

    @property
    def available(self) -> frozenset[OsIndex]:
        """CPUs the program may be placed on now."""
        return allowed_now(self._pid, self._at_start)

    def advance(self, duration_ns: int) -> Interval:
        """Wait, at most until the program ends, and say what its threads did meanwhile.

        With very many threads it waits longer than asked: looking at them takes at most one
        hundredth of a core. An interval encloses what was counted: it is from before the look that
        began its counts until after the one that ended them, so that intervals in a row overlap by
        one look. Samples cover threads that lived through the whole interval. Nothing on Linux
        tells a busy wait from work, so every sample is flagged as no measure of progress.
        """
        duration_ns = max(duration_ns, _LEAST_REST * self._look_cost_ns)
        now = time.monotonic_ns()
        events: list[ThreadEvent] = []
        if now - self._looked_at > _FRESH_NS:
            events = self._look(now)
            for counters in self._open.values():
                counters.sample()  # what was counted between two intervals is in neither
        start = self._looked_at
        before, switches_before = dict(self._tasks), dict(self._switches)
        times_before = dict(self._times)
        if self._counters:
            self._attach()
        self._follow_faults()
        self._ended = self._ended or bool(self._poll.poll(max(1, duration_ns // _NS_PER_MS)))
        events += self._look(time.monotonic_ns())
        counted = {tid: counters.sample() for tid, counters in self._open.items()}
        end = time.monotonic_ns()
        sharing, pages = self._look_at_faults()
        samples = [
            self._sample(
                task, switches_before[tid], times_before[tid], counted.get(tid), start, end
            )
            for tid, task in before.items()
            if tid in self._tasks
        ]
        return Interval(
            start,
            end,
            tuple(samples),
            tuple(events),
            sharing=sharing,
            ended=self._ended,
            pages=pages,
            cpus=self._last_cpus(),
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Bind threads and move pages, as far as the kernel and other people's pins allow."""
        started = time.monotonic_ns()
        done = skipped = 0
        reasons: dict[str, int] = {}
        for action in actions:
            if isinstance(action, BindThreads):
                for refusal in self._bind_all(action.placement.masks):
                    if refusal is None:
                        done += 1
                    elif refusal:
                        skipped += 1
                        reasons[refusal] = reasons.get(refusal, 0) + 1
            elif isinstance(action, MovePages):
                moved, failed = self._move(action)
                done += moved
                skipped += sum(failed.values())
                for reason, count in failed.items():
                    reasons[reason] = reasons.get(reason, 0) + count
        lines = tuple(f"{count} × {reason}" for reason, count in reasons.items())
        return Outcome(done, skipped, lines, time.monotonic_ns() - started)

    def close(self) -> None:
        """Give every counter back to the kernel."""
        for counters in self._open.values():
            counters.close()
        self._open.clear()
        if self._faults is not None:
            self._faults.close()
            self._faults = None

    def _follow_faults(self) -> None:
        """Sample the faults of all threads. The first refusal ends the attempt."""
        if self._faults is None:
            return
        try:
            self._faults.follow(self._tasks)
        except CapabilityError as error:
            self.notes.append(str(error))
            self._faults.close()
            self._faults = None

    def _look_at_faults(self) -> tuple[SharingMatrix | None, NumaVectors | None]:
        if self._faults is None:
            return None, None
        before = time.thread_time_ns()
        seen = self._faults.look(self._numbers)
        self._look_cost_ns += time.thread_time_ns() - before
        return seen

    def _last_cpus(self) -> tuple[OsIndex, ...]:
        """By thread number; -1 for a number that no thread has just now."""
        found = [OsIndex(-1)] * (1 + max(self._numbers.values(), default=-1))
        for tid, number in self._numbers.items():
            found[number] = self._tasks[tid].cpu
        return tuple(found)

    def _look(self, now: int) -> list[ThreadEvent]:
        before = time.thread_time_ns()
        events = self._compare(now)
        self._look_cost_ns = time.thread_time_ns() - before
        return events

    def _compare(self, now: int) -> list[ThreadEvent]:
        if now - self._family_at > _FAMILY_NS:
            self._family = family_of(self._pid, self._not_the_program)
            self._family_at = now
        found = {
            task.tid: task for pid in self._family for task in tasks_of(pid) if not task.helper
        }
        self._looked_at = now
        events = []
        for tid, task in list(self._tasks.items()):
            if tid not in found or found[tid].started != task.started:
                events.append(ThreadEvent("end", self._numbers.pop(tid), tid, now))
                self._forget(tid)
        for tid, task in sorted(found.items(), key=lambda item: (item[1].started, item[0])):
            if tid not in self._numbers:
                self._numbers[tid] = self._lowest_free_number()
                events.append(ThreadEvent("begin", self._numbers[tid], tid, now))
            self._tasks[tid] = task
            self._switches[tid] = switches_of(task)
            self._times[tid] = times_of(task)
        return events

    def _lowest_free_number(self) -> int:
        taken = set(self._numbers.values())
        return next(number for number in range(len(taken) + 1) if number not in taken)

    def _forget(self, tid: int) -> None:
        self._tasks.pop(tid, None)
        self._switches.pop(tid, None)
        self._times.pop(tid, None)
        self._bound.pop(tid, None)
        counters = self._open.pop(tid, None)
        if counters is not None:
            counters.close()

    def _attach(self) -> None:
        """Per-thread counters for threads that have none. The first refusal ends the attempt."""
        for tid in self._tasks:
            if tid in self._open:
                continue
            try:
                self._open[tid] = open_on_kinds(tid, self._counters, self._pmus)
            except CapabilityError as error:
                if "ESRCH" in str(error):
                    continue
                self.notes.append(str(error))
                self._counters = {}
                self.close()
                return

    def _sample(
        self,
        before: Task,
        switched: tuple[int, int],
        timed: tuple[int, int],
        counted: CounterSample | None,
        start: int,
        end: int,
    ) -> CounterSample:
        after = self._tasks[before.tid]
        voluntary, preempted = self._switches[after.tid]
        on_cpu, waited = self._times[after.tid]
        waits, preemptions = max(0, voluntary - switched[0]), max(0, preempted - switched[1])
        counts = {
            "task_clock_ns": max(0, on_cpu - timed[0]),
            "run_delay_ns": max(0, waited - timed[1]),
            "page_faults": after.faults - before.faults,
            "context_switches": waits + preemptions,
            "preemptions": preemptions,
        }
        enabled = running = end - start
        if counted is not None and counted.running_ns:
            # Software counts are exact; they take the PMU's times so that scaling them back by
            # enabled/running gives what /proc said.
            enabled, running = counted.enabled_ns, counted.running_ns
            share = running / enabled
            counts = {name: round(count * share) for name, count in counts.items()}
            counts |= counted.counts
        return CounterSample(after.tid, start, end, counts, enabled, running, flagged=True)

    def _bind_all(self, masks: Sequence[frozenset[OsIndex]]) -> list[str | None]:
        """For each thread None when done, else the reason; empty when it is gone by now."""
        tids = {number: tid for tid, number in self._numbers.items()}
        answers: list[str | None] = []
        changes: list[MaskChange] = []
        for number, mask in enumerate(masks):
            tid = tids.get(number)
            now = mask_of(tid) if mask and tid is not None else None
            if tid is None or now is None:
                continue
            if now == mask:
                answers.append(None)
            # A thread that was never bound has the program's mask or its creator's, which may be
            # one of ours; one that was has the mask it was given, or somebody else has spoken.
            elif now not in ({self._bound[tid]} if tid in self._bound else self._ours):
                answers.append("pinned by the program or by somebody else")
            else:
                changes.append(MaskChange(tid, self._tasks[tid].started, self._at_start, mask))
        if changes:
            self._keep_masks(changes)
        return answers + [self._bind(change.tid, change.given) for change in changes]

    def _bind(self, tid: int, mask: frozenset[OsIndex]) -> str | None:
        refusal = bind_thread(tid, mask)
        if refusal is None:
            self._bound[tid] = mask
            self._ours.add(mask)
        return "" if refusal == "ended" else refusal

    def _move(self, action: MovePages) -> tuple[int, Mapping[str, int]]:
        wanted = dict(zip(action.pages, action.nodes, strict=True))
        done, failed = 0, Counter[str]()
        for process, pages in by_process(action.pages).items():
            addresses = [process_and_page(page)[1] * _SMALL_PAGE_BYTES for page in pages]
            nodes = [self._node_os_indices[wanted[page]] for page in pages]
            try:
                moved = move(process or self._pid, addresses, nodes)
            except CapabilityError as error:
                failed[str(error)] += len(pages)
                continue
            done += moved.done
            failed.update(moved.failed)
        if self._faults is not None:
            self._faults.moved(action.pages)
        return done, failed


def open_pidfd(pid: int) -> int:
    """A descriptor that becomes readable when the process ends. Raises `CapabilityError`."""
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        raise CapabilityError(
            f"process {pid} cannot be watched: {error.strerror}; expected a running process and a "
            "kernel from 5.3"
        ) from error
