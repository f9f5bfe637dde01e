"""Threads of a program, including those of its descendants, look by look.

    look ─► /proc of the whole family ─► beginnings and ends, and the usage of each thread so far

Threads are numbered by creation; the number of a thread that ended is used again. Threads whose
name marks them as helpers of a runtime are never numbered.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from autofinity.linux.proc import (
    Task,
    family_of,
    resident_bytes_of,
    switches_of,
    tasks_of,
    times_of,
)
from autofinity.model.topology import OsIndex
from autofinity.ports import ThreadEvent

_FAMILY_NS = 400_000_000  # between two searches for new descendants

SOFTWARE_EVENTS: Mapping[str, str] = {
    "task_clock_ns": "nanoseconds on a CPU",
    "run_delay_ns": "nanoseconds it could run and had to wait for a CPU",
    "page_faults": "page faults, with and without I/O",
    "context_switches": "times it waited or was preempted",
    "preemptions": "times it was preempted",
}
"""Count of a thread in /proc → meaning."""


@dataclass(frozen=True, slots=True)
class Usage:
    """A thread, and its usage since it began."""

    task: Task
    on_cpu_ns: int
    waited_ns: int
    waits: int
    preemptions: int

    @staticmethod
    def of(task: Task) -> Usage:
        """Usage of a task as the kernel has it now."""
        waits, preemptions = switches_of(task)
        return Usage(task, *times_of(task), waits, preemptions)

    def since(self, before: Usage) -> dict[str, int]:
        """`SOFTWARE_EVENTS` between two looks at one thread."""
        preemptions = max(0, self.preemptions - before.preemptions)
        return {
            "task_clock_ns": max(0, self.on_cpu_ns - before.on_cpu_ns),
            "run_delay_ns": max(0, self.waited_ns - before.waited_ns),
            "page_faults": max(0, self.task.faults - before.task.faults),
            "context_switches": max(0, self.waits - before.waits) + preemptions,
            "preemptions": preemptions,
        }


class ThreadRoll:
    """The threads of the last look."""

    def __init__(self, pid: int) -> None:
        """Follow process `pid` and its descendants."""
        self._pid = pid
        # Where PID 1 or a subreaper is watched, the monitor and its native half are its children.
        self._not_the_program = frozenset({os.getpid(), os.getppid()} - {pid})
        self._family: list[int] = []
        self._family_at = -_FAMILY_NS - 1
        self.numbers: dict[int, int] = {}
        """Number of each thread, by kernel id."""
        self.usage: dict[int, Usage] = {}
        """Usage of each thread, by kernel id."""
        self.resident_bytes = 0
        """Memory of all processes at the first look, and its growth in processes that two looks in
        a row have seen. A process that has just been forked holds its parent's pages: it seems to
        have grown by all of them, though none was touched."""
        self._held: dict[int, int] | None = None

    def look(self, now_ns: int) -> list[ThreadEvent]:
        """Ends and beginnings of threads since the last look, in this order."""
        if now_ns - self._family_at > _FAMILY_NS:
            self._family = family_of(self._pid, self._not_the_program)
            self._family_at = now_ns
        found = {
            task.tid: task for pid in self._family for task in tasks_of(pid) if not task.helper
        }
        events = []
        for tid, known in list(self.usage.items()):
            if tid not in found or found[tid].started != known.task.started:
                events.append(ThreadEvent("end", self.numbers.pop(tid), tid, now_ns))
                del self.usage[tid]
        free = self._free_numbers()
        for tid, task in sorted(found.items(), key=lambda item: (item[1].started, item[0])):
            if tid not in self.numbers:
                self.numbers[tid] = next(free)
                events.append(ThreadEvent("begin", self.numbers[tid], tid, now_ns))
            self.usage[tid] = Usage.of(task)
        self._look_at_memory()
        return events

    def _look_at_memory(self) -> None:
        held = {pid: resident_bytes_of(pid) for pid in self._family}
        if self._held is None:
            self.resident_bytes = sum(held.values())
        else:
            before = self._held
            self.resident_bytes += sum(
                size - before[pid] for pid, size in held.items() if size and pid in before
            )
        self._held = held

    @property
    def runnable(self) -> int:
        """Number of threads that ran or waited for a CPU at the last look."""
        return sum(usage.task.runnable for usage in self.usage.values())

    @property
    def last_cpus(self) -> tuple[OsIndex, ...]:
        """CPU where each thread last ran, by number; -1 for a number that no thread has now."""
        found = [OsIndex(-1)] * (1 + max(self.numbers.values(), default=-1))
        for tid, number in self.numbers.items():
            found[number] = self.usage[tid].task.cpu
        return tuple(found)

    def _free_numbers(self) -> Iterator[int]:
        """Numbers that no thread has now, ascending, without end."""
        taken = frozenset(self.numbers.values())
        return (number for number in count() if number not in taken)
