"""Binding the threads of a running program, as far as other people's pins allow.

A thread counts as pinned by somebody else when its mask is neither the program's own from the start
nor one that was set here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from autofinity.linux.bind import bind_thread, mask_of
from autofinity.linux.thread_roll import ThreadRoll
from autofinity.model.topology import OsIndex


@dataclass(frozen=True, slots=True)
class MaskChange:
    """What a thread is about to be given."""

    tid: int
    start_ticks: int
    """When the thread began: tids are used again."""
    before: frozenset[OsIndex]
    """What it might run on before anybody here bound it."""
    given: frozenset[OsIndex]


type KeepMasks = Callable[[Sequence[MaskChange]], None]
"""Told of changes before they are made, so that they can be put back whatever happens to us."""


class ThreadMasks:
    """What was set here, by thread."""

    def __init__(
        self,
        at_start: frozenset[OsIndex],
        ours: frozenset[frozenset[OsIndex]],
        keep_masks: KeepMasks,
    ) -> None:
        """`ours` are masks that count as given by us, beside the program's own `at_start`."""
        self._at_start = at_start
        self._ours = {at_start, *ours}
        self._bound: dict[int, frozenset[OsIndex]] = {}
        self._keep_masks = keep_masks

    def forget(self, tid: int) -> None:
        """The thread has ended."""
        self._bound.pop(tid, None)

    def bind(
        self, roll: ThreadRoll, masks: Sequence[frozenset[OsIndex]]
    ) -> tuple[int, Mapping[str, int]]:
        """Thread i to `masks[i]` (empty: it is left alone): how many are there now, and how often
        each reason kept one from it. Those that are gone by now count as neither.
        """
        tids = {number: tid for tid, number in roll.numbers.items()}
        done, refused = 0, dict[str, int]()
        changes: list[MaskChange] = []
        for number, mask in enumerate(masks):
            tid = tids.get(number)
            now = mask_of(tid) if mask and tid is not None else None
            if tid is None or now is None:
                continue
            if now == mask:
                done += 1
            # A thread that was never bound has the program's mask or its creator's, which may be
            # one of ours; one that was has the mask it was given, or somebody else has spoken.
            elif now not in ({self._bound[tid]} if tid in self._bound else self._ours):
                reason = "pinned by the program or by somebody else"
                refused[reason] = refused.get(reason, 0) + 1
            else:
                started = roll.usage[tid].task.started
                changes.append(MaskChange(tid, started, self._at_start, mask))
        if changes:
            self._keep_masks(changes)
        for change in changes:
            refusal = bind_thread(change.tid, change.given)
            if refusal is None:
                done += 1
                self._bound[change.tid] = change.given
                self._ours.add(change.given)
            elif refusal != "ended":
                refused[refusal] = refused.get(refusal, 0) + 1
        return done, refused
