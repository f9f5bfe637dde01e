"""Where the threads of a watched program may run now, read back from the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autofinity.linux.bind import as_cut, cpuset_of, mask_of
from autofinity.linux.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.linux.proc import family_of, tasks_of
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
    """Clock ticks since boot."""
    cpus: str
    """CPU list of its mask."""
    author: Author
    """Who gave it this mask; nobody: it is the one the program began with."""


def threads_now(run: RunRecord, masks: Sequence[MaskRecord]) -> tuple[ThreadNow, ...]:
    """Threads of the program and its descendants, in order of creation; empty when it is gone.

    A thread that no row of `masks` names may still have inherited its creator's mask. Where the
    cgroup allows fewer CPUs than a mask has, the kernel shows what is left of it.
    """
    rows = {
        (mask.tid, mask.start_ticks): (cpus_of(mask.before), cpus_of(mask.given)) for mask in masks
    }
    given = frozenset(given for _, given in rows.values())
    no_row = cpus_of(run.allowed), frozenset[OsIndex]()
    found = []
    for pid in family_of(run.pid):
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
    """The CPUs of a list on record; none of a damaged one."""
    try:
        return parse_cpu_list(text)
    except UsageError:
        return frozenset()


@dataclass(frozen=True, slots=True)
class _Masks:
    """What a thread may have its mask from."""

    before: frozenset[OsIndex]
    """Before any of ours."""
    own: frozenset[OsIndex]
    """Given to this very thread; none: it was given none."""
    given: frozenset[frozenset[OsIndex]]
    """To any thread."""
    cpuset: frozenset[OsIndex] | None

    def author(self, cpus: frozenset[OsIndex]) -> Author:
        if cpus == self.before:
            return "nobody"
        bound = self.own and self.own != self.before
        if bound and cpus in (self.own, as_cut(self.own, self.cpuset)):
            return "autofinity"
        # Of a mask that is all that the cgroup allows nobody can tell more: it is no pin.
        if cpus in (self.cpuset, as_cut(self.before, self.cpuset)):
            return "nobody"
        if not bound and any(cpus in (mask, as_cut(mask, self.cpuset)) for mask in self.given):
            return "autofinity"
        return "others"
