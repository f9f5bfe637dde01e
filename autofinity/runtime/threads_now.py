"""Where the threads of a watched program may run now, read back from the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autofinity.linux.bind import mask_of
from autofinity.linux.cpu_lists import format_cpu_list
from autofinity.linux.proc import family_of, tasks_of
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

    A thread that no row of `masks` names may still have inherited its creator's mask.
    """
    by_thread = {(mask.tid, mask.start_ticks): mask.given for mask in masks}
    given = set(by_thread.values())
    found = []
    for pid in family_of(run.pid):
        for task in tasks_of(pid):
            cpus = mask_of(task.tid)
            if cpus is None:
                continue
            text = format_cpu_list(cpus)
            ours = by_thread.get((task.tid, task.started))
            author: Author = "others"
            if text == run.allowed:
                author = "nobody"
            elif text == ours or (ours is None and text in given):
                author = "autofinity"
            found.append(ThreadNow(task.tid, pid, task.name, task.started, text, author))
    return tuple(found)
