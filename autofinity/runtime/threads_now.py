"""CPUs that the threads of a watched program may use now, read from the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autofinity.linux.bind import as_cut, cpuset_of, mask_of
from autofinity.linux.proc import program_of, tasks_of
from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex
from autofinity.store.behaviour_rows import MaskRecord, RunRecord

type Author = Literal["autofinity", "nobody", "others"]


@dataclass(frozen=True, slots=True)
class ThreadNow:
    """One thread."""

    tid: int
    pid: int
    name: str
    started: int
    """Start time in clock ticks since boot."""
    cpus: str
    """CPU list of its mask."""
    author: Author
    """Who gave the thread this mask; nobody: it is the mask that the program began with."""


def threads_now(run: RunRecord, masks: Sequence[MaskRecord]) -> tuple[ThreadNow, ...]:
    """Threads of the program and its descendants, in order of creation; empty when it is gone.

    A thread that no row of `masks` names may still have inherited its creator's mask. Where the
    cgroup allows fewer CPUs than a mask has, the kernel shows only the allowed part.
    """
    rows = {
        (mask.tid, mask.start_ticks): (cpus_of(mask.before), cpus_of(mask.given)) for mask in masks
    }
    given = frozenset(given for _, given in rows.values())
    no_row = cpus_of(run.allowed), frozenset[OsIndex]()
    found = []
    for pid in program_of(run.pid):
        cpuset = cpuset_of(pid)
        for task in tasks_of(pid):
            cpus = mask_of(task.tid)
            if cpus is None:
                continue
            before, own = rows.get((task.tid, task.started), no_row)
            author = _Masks(before, own, given, cpuset).author(cpus)
            found.append(
                ThreadNow(task.tid, pid, task.name, task.started, format_cpu_list(cpus), author)
            )
    return tuple(found)


def cpus_of(text: str) -> frozenset[OsIndex]:
    """The CPUs of a list on record; empty for a damaged list."""
    try:
        return parse_cpu_list(text)
    except UsageError:
        return frozenset()


@dataclass(frozen=True, slots=True)
class _Masks:
    """Possible origins of a thread's mask."""

    before: frozenset[OsIndex]
    """Mask from before any of ours."""
    own: frozenset[OsIndex]
    """Mask that was given to this very thread; empty: none was given."""
    given: frozenset[frozenset[OsIndex]]
    """Masks that were given to any thread."""
    cpuset: frozenset[OsIndex] | None

    def author(self, cpus: frozenset[OsIndex]) -> Author:
        if cpus == self.before:
            return "nobody"
        bound = self.own and self.own != self.before
        if bound and cpus in (self.own, as_cut(self.own, self.cpuset)):
            return "autofinity"
        # A mask with all CPUs that the cgroup allows has no known author: it is no pin.
        if cpus in (self.cpuset, as_cut(self.before, self.cpuset)):
            return "nobody"
        if not bound and any(cpus in (mask, as_cut(mask, self.cpuset)) for mask in self.given):
            return "autofinity"
        return "others"
