"""Whether it pays that pages follow threads to a placement.

Moving pays where remote reads would cost more time than the move. Their cost is at most that of the
sampled misses of the last-level cache, each `REMOTE_READ_NS` longer: most misses of a program may
be prefetches that nothing waits for. So of much memory a part moves first, and the loss measured by
that takes the place of the bound, as long as the program's sample stays the same. Where nothing can
be measured the bound stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from autofinity.model.counters import Behaviour
from autofinity.model.memory import FAR_READS, REMOTE_READ_NS
from autofinity.runtime.left_behind import LeftBehind
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.looks import Look
from autofinity.runtime.page_rate import PageRate
from autofinity.runtime.part_first import ONE_IN, Loss, PartFirst

ASSUMED_LOSS = 0.1
"""Share of its time that a program with only remote pages loses, where misses are not known."""

type Step = Literal["wait", "move a part", "move all"]

_MOST_TRIALS = 3
"""Trials that other placements may break off; after these the bound stands."""


class PagesPay:
    """The question for one placement after the other."""

    def __init__(self, rate: PageRate) -> None:
        """`rate` is assumed until a part has moved."""
        self._few_bytes = rate.few_bytes
        self._bytes_per_s = float(rate.bytes_per_s)
        self._sample: Behaviour | None = None
        self._trials = 0
        self._part: PartFirst | None = None
        """The part that is on trial."""
        self.loss: Loss | None = None
        """The measured loss with remote pages only."""

    def break_off(self) -> None:
        """End the trial without a result."""
        self._part = None

    def begin(self, state: LiveState) -> None:
        """Ask for another placement."""
        self.break_off()
        sample = state.samples.latest
        if sample is not self._sample:
            self._sample, self._trials, self.loss = sample, 0, None

    @property
    def trying(self) -> bool:
        """Whether a part is on trial."""
        return self._part is not None

    @property
    def moving_a_part(self) -> bool:
        """Whether the pages that were moved last are a part on trial."""
        return self._part is not None and not self._part.bytes_moved

    def saw(self, look: Look, *, counts: bool) -> None:
        """See one more look at the program while a part is on trial, with no pages under way;
        `counts`: its threads are those of the placement.
        """
        assert self._part is not None
        self._part = self._part.saw(look, counts=counts)

    def moved_a_part(self, size_bytes: int, took_ns: int) -> None:
        """Know that so many bytes, at least one, have moved as the part, and how long it took: the
        rate here takes the place of the assumed one.
        """
        assert self._part is not None
        if took_ns > 0:
            self._bytes_per_s = size_bytes / took_ns * 1e9
        self._part = self._part.moved(size_bytes)

    def step(self, found: LeftBehind, state: LiveState, rest_ns: float, since_ns: float) -> Step:
        """The next step. Pages are likely to pay for their move in `rest_ns`, the rest of the run
        as long as it is assumed to last, or may have cost as much `since_ns`, the time since
        threads came here.
        """
        needed = found.total_bytes / self._bytes_per_s * 1e9 / max(rest_ns, since_ns)
        if self._part is not None:
            self.loss = self._part.loss(found.total_bytes, needed)
            if self.loss is not None:
                self._part = None
            elif self._part.late:
                self._part, self._trials = None, _MOST_TRIALS
            elif self._part.bytes_moved:
                return "wait"
        bound = most_loss(state)
        _, most, evident = self.loss or (bound, bound, bound)
        if (evident if rest_ns > 0 else min(most, bound)) < needed:
            self._part = None
            return "wait"
        if not self._worth_a_trial(found, state):
            self._part = None
            return "move all"
        if self._part is None:
            self._part, self._trials = PartFirst(), self._trials + 1
        share = found.bytes_to_move / ONE_IN / found.total_bytes
        return "move a part" if self._part.may_move(share, needed) else "wait"

    def _worth_a_trial(self, found: LeftBehind, state: LiveState) -> bool:
        """Whether a part of the pages is to move first: where its effect can be measured."""
        if self.loss is not None or (self._part is None and self._trials >= _MOST_TRIALS):
            return False
        if found.bytes_to_move <= self._few_bytes or FAR_READS not in _seen(state):
            return False
        # A part that came to a node from which pages are to follow would follow with them.
        return not any(home in nodes for nodes in found.belongs.values() for home in found.belongs)


def most_loss(state: LiveState) -> float:
    """Share of the time that a program with only remote pages loses at most."""
    seen = _seen(state)
    if FAR_READS not in seen:
        return ASSUMED_LOSS
    return min(1.0, seen[FAR_READS] * REMOTE_READ_NS / 1e9)


def _seen(state: LiveState) -> Mapping[str, float]:
    """Rates in the program's last sample, by name."""
    seen = state.samples.latest
    return {} if seen is None else seen.values
