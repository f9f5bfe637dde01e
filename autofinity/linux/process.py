"""`ports.Process` on a running program: sleep and look, then bind.

    advance: poll(pidfd) ─► /proc (`thread_roll`) + perf for each thread (`counted_threads`)
                            + page faults (which threads share), where a sensor is given
    apply:   sched_setaffinity for each thread (`thread_masks`); move_pages, in batches

Looks take a hundredth of a core at most, and binding changes no thread that others have pinned.
"""

from __future__ import annotations

import math
import os
import select
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from autofinity.linux.bind import StartMask, allowed_now, cpuset_of
from autofinity.linux.counted_threads import CountedThreads
from autofinity.linux.event_tables import Encoding
from autofinity.linux.look_budget import LookBudget
from autofinity.linux.memory import memory_of, pages_on
from autofinity.linux.pages import move
from autofinity.linux.seated_threads import SeatedThreads
from autofinity.linux.thread_masks import KeepMasks, ThreadMasks
from autofinity.linux.thread_roll import ThreadRoll, Usage
from autofinity.model.counters import CounterSample
from autofinity.model.errors import CapabilityError
from autofinity.model.memory import SMALL_PAGE_BYTES, MemoryByNode
from autofinity.model.sharing import NumaVectors, SharingMatrix, by_process, process_and_page
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, BindThreads, Interval, MovePages, Outcome, ThreadEvent

if TYPE_CHECKING:
    from autofinity.linux.address_sensor import AddressSensor  # loads the native core

_NS_PER_MS = 1_000_000
_OVERSLEPT_NS = 1_000 * _NS_PER_MS
"""Least time that a wait lasts too long where this process was suspended. On a crowded machine it
gets a CPU sooner."""
_RAN_NS = 20 * _NS_PER_MS  # two of the kernel's usual clock ticks
_STILL_NS = _NS_PER_MS  # a thread ends within microseconds, and its counters count that
_FRESH_NS = 10 * _NS_PER_MS  # a look is not repeated within this time: /proc costs 40 µs a thread
_PAGES_STAY = {
    "EACCES": "pages stay where they are: the program may have no memory on their nodes (EACCES)",
    "ENOMEM": "pages stay where they are: hardly any memory is free on their nodes (ENOMEM)",
}
"""Reasons for which pages stay that last. Other pages are gone, or busy for a moment."""


class LinuxProcess:
    """A program that already runs, watched from another process of the same user."""

    def __init__(
        self,
        pid: int,
        pidfd: int,
        allowed_at_start: frozenset[OsIndex],
        counters: Mapping[str, Encoding] | None = None,
        ours: frozenset[frozenset[OsIndex]] = frozenset(),
        keep_masks: KeepMasks = lambda changes: None,
        faults: AddressSensor | None = None,
        node_os_indices: Sequence[OsIndex] = (),
        seated: SeatedThreads | None = None,
        budget: LookBudget | None = None,
    ) -> None:
        """Watch process `pid`.

        `ours` are masks that count as given by us: before exec, or by an earlier watch. `faults` is
        closed with the process; `node_os_indices` are the kernel's numbers of the nodes that pages
        may be moved to. Threads are `seated` until the first of them is bound here. Others may
        spend of the `budget`, too.
        """
        self._pid = pid
        self._poll = select.poll()
        self._poll.register(pidfd, select.POLLIN)
        self._at_start = StartMask.of(pid, allowed_at_start)
        self._roll = ThreadRoll(pid)
        self._masks = ThreadMasks(allowed_at_start, ours, keep_masks)
        self._counters = CountedThreads(counters or {})
        self._faults = faults
        self._seated = seated
        self._named: list[tuple[int, frozenset[OsIndex]]] = []
        """Seated threads that no look has shown yet."""
        self._node_os_indices = tuple(node_os_indices)
        self._ended = False
        self._looked_at = -_FRESH_NS - 1
        self._budget = budget or LookBudget.of_this_process()
        self.notes: list[str] = []
        """Requests that were not or only partly fulfilled, one line each, in order."""
        self.was_seen = False
        """Whether the program still ran after a look at its threads."""

    @property
    def available(self) -> frozenset[OsIndex]:
        """CPUs that the program may be placed on now."""
        return allowed_now(self._pid, self._at_start)

    def advance(self, duration_ns: int) -> Interval:
        """Wait, at most until the program ends, and return what its threads did in that time.

        Where a look takes long (very many threads, an emulated machine), the wait is longer than
        asked (`LookBudget`). An interval encloses its counts: it goes from before the look that
        began the counts until after the look that ended them, so consecutive intervals overlap by
        one look. Samples cover threads that lived through the whole interval. Progress is not
        known (NaN): Linux cannot distinguish a busy wait from work.

        A batch system may suspend program and watcher together, and a host its virtual machine. A
        wait with such a pause shows a program that hardly ran, so there is another wait in its
        place.
        """
        now = time.monotonic_ns()
        duration_ns = max(duration_ns, self._budget.rest_ns(now))
        events: list[ThreadEvent] = []
        if now - self._looked_at > _FRESH_NS:
            events = self._look(now)
            self.was_seen = self.was_seen or not self._poll.poll(0)
            self._counters.samples()  # counts between two intervals are in neither
        for last in (False, True):
            start = self._looked_at
            before = dict(self._roll.usage)
            self._follow()
            overslept = self._wait(duration_ns)
            events += self._look(time.monotonic_ns())
            counted = self._counters.samples()
            if last or self._ended or not overslept:
                break
        end = time.monotonic_ns()
        sharing, pages = self._look_at_faults()
        after = self._roll.usage
        self._close_still(before, counted)
        samples = [
            _sample(known, after[tid], counted.get(tid), start, end)
            for tid, known in before.items()
            if tid in after
        ]
        return Interval(
            start,
            end,
            tuple(samples),
            tuple(events),
            sharing=sharing,
            ended=self._ended,
            pages=pages,
            runnable=self._roll.runnable,
            cpus=self._roll.last_cpus,
            # The status of a program that has ended shows nothing.
            resident_bytes=math.nan if self._ended else float(self._roll.resident_bytes),
        )

    def _wait(self, duration_ns: int) -> bool:
        """Wait, at most until the program ends. Whether that took far longer than asked."""
        began = time.monotonic_ns()
        self._ended = self._ended or bool(self._poll.poll(max(1, duration_ns // _NS_PER_MS)))
        return time.monotonic_ns() - began > 2 * duration_ns + _OVERSLEPT_NS

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Bind threads and move pages, as far as the kernel and other people's pins allow."""
        started = time.monotonic_ns()
        bound = moved = stayed = 0
        reasons, of_pages = Counter[str](), Counter[str]()
        for action in actions:  # others are work of the monitor, whose time is not the program's
            if isinstance(action, BindThreads):
                managed, refused = self._bind(action)
                bound += managed
                reasons.update(refused)
            elif isinstance(action, MovePages):
                managed, failed = self._move(action)
                moved += managed
                stayed += len(action.pages) - managed
                of_pages.update(failed)
        return Outcome(
            bound + moved,
            reasons.total() + stayed,
            _lines(reasons),
            time.monotonic_ns() - started,
            moved,
            stayed,
            _lines(of_pages),
        )

    def memory(self) -> MemoryByNode | None:
        """Memory of the program's processes together; None where the kernel gives no answer."""
        return memory_of(self._pids, self._node_os_indices)

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        """Numbers of the program's pages on a logical node, up to 4 MiB at a time."""
        return pages_on(self._pids, self._node_os_indices[node], one_in)

    @property
    def _pids(self) -> list[int]:
        return sorted({usage.task.pid for usage in self._roll.usage.values()})

    def close(self) -> None:
        """Close every counter."""
        self._counters.close()
        self._close_faults()
        self._end_seating()

    def _close_faults(self) -> None:
        if self._faults is not None:
            self._faults.close()
            self._faults = None

    def _follow(self) -> None:
        """Count all threads, and sample their faults. The first refusal ends the attempt."""
        threads = self._roll.usage.keys()
        try:
            self._counters.follow(threads)
        except CapabilityError as error:
            self.notes.append(str(error))
        try:
            if self._faults is not None:
                self._faults.follow(threads)
        except CapabilityError as error:
            self.notes.append(str(error))
            self._close_faults()

    def _close_still(self, before: Mapping[int, Usage], counted: dict[int, CounterSample]) -> None:
        """Close counters that stood still while their thread ran, and drop what they counted; the
        next look opens others.

        An exec by another thread than the first puts that thread in the first one's place, with its
        id and start, and counters stay with the thread that has ended.
        """
        for tid, sample in list(counted.items()):
            now, known = self._roll.usage.get(tid), before.get(tid)
            if sample.enabled_ns >= _STILL_NS or now is None or known is None:
                continue
            if now.on_cpu_ns - known.on_cpu_ns >= _RAN_NS:
                self._counters.forget(tid)
                del counted[tid]

    def _look_at_faults(self) -> tuple[SharingMatrix | None, NumaVectors | None]:
        if self._faults is None:
            return None, None
        before = time.thread_time_ns()
        seen = self._faults.look(self._roll.numbers)
        self._budget.spend(time.thread_time_ns() - before)
        return seen

    def _look(self, now: int) -> list[ThreadEvent]:
        before = time.thread_time_ns()
        if self._seated is not None:
            self._named += self._seated.named()
        events = self._roll.look(now)
        self._adopt()
        self._looked_at = now
        for event in events:
            if event.kind == "end":
                self._masks.forget(event.tid)
                self._counters.forget(event.tid)
        self._budget.spend(time.thread_time_ns() - before)
        return events

    def _adopt(self) -> None:
        """Take over the masks of seated threads; helpers of a runtime are not to have any."""
        for tid, mask in self._named:
            usage = self._roll.usage.get(tid)
            if usage is not None:
                self._masks.adopt(tid, usage.task.started, mask)
            else:
                self._masks.free(tid, mask)
        self._named = []

    def _end_seating(self) -> None:
        if self._seated is not None:
            self._named += self._seated.named()
            self._seated.close()
            self._seated = None

    def _bind(self, action: BindThreads) -> tuple[int, Mapping[str, int]]:
        self._end_seating()
        self._adopt()  # threads that were seated since the last look
        masks = action.placement.masks
        managed, refused = self._masks.bind(self._roll, masks, cpuset_of(self._pid))
        if self._faults is not None:
            self._faults.bound(masks)
        return managed, refused

    def _move(self, action: MovePages) -> tuple[int, Mapping[str, int]]:
        wanted = dict(zip(action.pages, action.nodes, strict=True))
        done, failed = 0, Counter[str]()
        for process, pages in by_process(action.pages).items():
            addresses = [process_and_page(page)[1] * SMALL_PAGE_BYTES for page in pages]
            nodes = [self._node_os_indices[wanted[page]] for page in pages]
            try:
                moved = move(process or self._pid, addresses, nodes)
            except CapabilityError as error:
                failed[str(error)] += len(pages)
                self._note(str(error))
                continue
            done += moved.done
            failed.update(moved.failed)
            for name in _PAGES_STAY.keys() & moved.failed.keys():
                self._note(_PAGES_STAY[name])
        if self._faults is not None:
            self._faults.moved(action.pages)
        return done, failed

    def _note(self, line: str) -> None:
        if line not in self.notes:
            self.notes.append(line)


def _lines(reasons: Counter[str]) -> tuple[str, ...]:
    return tuple(f"{count} × {reason}" for reason, count in reasons.items())


def _sample(
    before: Usage, after: Usage, counted: CounterSample | None, start: int, end: int
) -> CounterSample:
    counts = after.since(before)
    enabled = running = end - start
    if counted is not None and counted.running_ns:
        # Software counts are exact; they are divided by enabled/running of the PMU, so that the
        # usual scaling gives the values of /proc.
        enabled, running = counted.enabled_ns, counted.running_ns
        share = running / enabled
        counts = {name: round(count * share) for name, count in counts.items()}
        counts |= counted.counts
    return CounterSample(after.task.tid, start, end, counts, enabled, running)


def open_pidfd(pid: int) -> int:
    """A descriptor that becomes readable when the process ends. Raises `CapabilityError`."""
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        raise CapabilityError(
            f"process {pid} cannot be watched: {error.strerror}; expected a running process and a "
            "kernel from 5.3"
        ) from error
