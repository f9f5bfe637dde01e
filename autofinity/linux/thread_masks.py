"""Binds the threads of a running program, as far as other people's pins allow.

A thread counts as pinned by somebody else when its mask is neither the program's own from the start
nor one that was set here, nor the kernel's reduction of such a mask in a smaller cpuset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from autofinity.linux.bind import as_cut, bind_thread, mask_of
from autofinity.linux.thread_roll import ThreadRoll
from autofinity.model.topology import OsIndex


@dataclass(frozen=True, slots=True)
class MaskChange:
    """New mask that a thread is about to get."""

    tid: int
    start_ticks: int
    """Start of the thread: tids are reused."""
    before: frozenset[OsIndex]
    """Mask of the thread before autofinity bound it."""
    given: frozenset[OsIndex]


type KeepMasks = Callable[[Sequence[MaskChange]], None]
"""Function that receives changes before they are made, so that they can be undone in any event."""


class ThreadMasks:
    """Masks that were set here, by thread."""

    def __init__(
        self,
        at_start: frozenset[OsIndex],
        ours: frozenset[frozenset[OsIndex]],
        keep_masks: KeepMasks,
    ) -> None:
        """`ours` are masks that count as given by us, beside the program's own `at_start`."""
        self._at_start = at_start
        self._given = set(ours)
        self._bound: dict[int, frozenset[OsIndex]] = {}
        self._bound_within: dict[int, frozenset[OsIndex] | None] = {}
        self._pins: dict[int, frozenset[OsIndex]] = {}
        self._keep_masks = keep_masks

    def forget(self, tid: int) -> None:
        """Forget a thread that has ended."""
        self._bound.pop(tid, None)
        self._bound_within.pop(tid, None)
        self._pins.pop(tid, None)

    def adopt(self, tid: int, started: int, mask: frozenset[OsIndex]) -> None:
        """Take over the mask that the launcher's half gave a thread, unless somebody else has
        pinned the thread since.
        """
        if mask_of(tid) == mask:
            self._keep_masks([MaskChange(tid, started, self._at_start, mask)])
            self._bound[tid] = mask
            self._bound_within[tid] = None
        self._inherited_from(tid, mask)

    def free(self, tid: int, mask: frozenset[OsIndex]) -> None:
        """Take that mask back from a thread that is none of the program's numbered ones."""
        self._inherited_from(tid, mask)
        if mask_of(tid) == mask:
            bind_thread(tid, self._at_start)

    def _inherited_from(self, tid: int, mask: frozenset[OsIndex]) -> None:
        """Threads that this thread made may have its seat's mask for good, also when it has ended.
        But where it has pinned itself, such a mask may be another thread's pin.
        """
        if mask_of(tid) in (None, mask, self._at_start, *self._given):
            self._given.add(mask)

    def bind(
        self,
        roll: ThreadRoll,
        masks: Sequence[frozenset[OsIndex]],
        cpuset: frozenset[OsIndex] | None = None,
    ) -> tuple[int, Mapping[str, int]]:
        """Bind thread i to `masks[i]` (empty: it is left alone).

        Return the number of threads that have their mask now, and how often each reason prevented
        it. Threads that have ended count as neither. `cpuset` holds the CPUs that their cgroup
        allows now.
        """
        tids = {number: tid for tid, number in roll.numbers.items()}
        done, refused = 0, dict[str, int]()
        changes: list[MaskChange] = []
        for number, mask in enumerate(masks):
            tid = tids.get(number)
            now = mask_of(tid) if mask and tid is not None else None
            if tid is None or now is None:
                continue
            if now == mask and not self._is_cut(tid, mask, cpuset):
                done += 1
            elif not self._may_change(tid, now, cpuset):
                reason = "pinned by the program or by others"
                refused[reason] = refused.get(reason, 0) + 1
                self._pins[tid] = now
            else:
                started = roll.usage[tid].task.started
                # The thread's cgroup may have grown since the thread began.
                before = now if now >= self._at_start else self._at_start
                changes.append(MaskChange(tid, started, before, mask))
        if changes:
            self._keep_masks(changes)
        for change in changes:
            refusal = bind_thread(change.tid, change.given)
            if refusal is None:
                done += 1
                self._bound[change.tid] = change.given
                self._bound_within[change.tid] = cpuset
                self._given.add(change.given)
            elif refusal != "ended":
                refused[refusal] = refused.get(refusal, 0) + 1
        return done, refused

    def _may_change(
        self, tid: int, now: frozenset[OsIndex], cpuset: frozenset[OsIndex] | None
    ) -> bool:
        """Whether the mask of a thread is ours to change.

        A thread that was never bound has the program's mask or its creator's, which may be one of
        ours. A thread that was bound must still have the mask that it was given; otherwise somebody
        else has pinned it. A mask that was a pin before other threads were given the same is still
        a pin.
        """
        if tid in self._bound:
            # Before Linux 6.2 the kernel forgets a mask when the cpuset changes.
            reset = now == cpuset != self._bound_within.get(tid)
            return reset or now in (self._bound[tid], as_cut(self._bound[tid], cpuset))
        if self._pins.get(tid) == now:
            return False
        own = {self._at_start, *self._given}
        return now in own or now == cpuset or any(now == as_cut(mask, cpuset) for mask in own)

    def _is_cut(self, tid: int, now: frozenset[OsIndex], cpuset: frozenset[OsIndex] | None) -> bool:
        """Whether the kernel keeps another mask of ours than the mask that it shows."""
        bound = self._bound.get(tid, now)
        return bound != now and as_cut(bound, cpuset) == now
