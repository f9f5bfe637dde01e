"""A trial that is under way: one more hint beside the two that the policy was asked with, the
policy's own answer, or threads in another order on the seats of the answer's affinity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from autofinity.model.affinity import Affinity
from autofinity.model.answer_on_record import SeatOrder
from autofinity.model.counters import Behaviour
from autofinity.model.policy import SecondLook
from autofinity.runtime.answer import Answer
from autofinity.runtime.looks import Look
from autofinity.runtime.seat_order import SHOWN

_SHARED, _MISSES = "cache_to_cache_transfers_other_llc", "llc_misses"
NEIGHBOURS = (_SHARED, _MISSES)
"""Counters that show whether neighbours matter."""
BEYOND = 1.6
"""Times as fast as its share of a cache says that a program may be: more than any program of the
observations (tests/unit/learning/test_what_a_trial_gains.py)."""

SHARERS = 1.5
"""Times as fast that threads which share lines are on one cache, and no faster on several: so it is
for all programs of the observations (the same test)."""


def hopeless(packed: Affinity, speed: float, tried: Affinity, needed: float) -> bool:
    """Whether a trial is lost before it begins: in `packed` threads have a `speed`, and in `tried`
    they would need more than the `needed` speed of the answer's affinity.

    With fewer threads on the fullest cache, each has so much more of the cache and of its path to
    memory. False where the trial has more threads there, and for unknown speeds.
    """
    share = packed.fullest_llc / tried.fullest_llc
    return share >= 1 and speed * share * BEYOND < needed


def neighbours_matter(seen: Behaviour) -> bool:
    """Whether threads get more lines from each other's caches than from memory, as far as counted.

    Misses of the last-level cache count both; lines of the own domain's cores, which some caches
    count, too, are taken for memory's. Threads that read memory lose more by leaving their
    pages than neighbours gain them: where the order was tried for `lbm` and `cg`, too, it was no
    faster, and the looks were slow.
    """
    return 2 * seen[_SHARED] > seen[_MISSES]


def parts_sharers(start: Behaviour, packed: Affinity, speed: float, tried: Affinity) -> bool:
    """Whether a trial is lost before it begins since it parts threads that gain by one cache: all
    share it in `packed`, where they have a `speed`, and at most half of them would share one in the
    trial. At the `start` they got most lines from each other. False for unknown speeds.
    """
    together = packed.fullest_llc == packed.threads >= 2 * tried.fullest_llc
    much_faster = speed >= SHARERS * start["instructions"] > 0
    return together and much_faster and neighbours_matter(start)


@dataclass(frozen=True, slots=True)
class Trying:
    """The question of a trial, and the looks so far."""

    question: SecondLook
    """As `Trial.against` gives it."""
    reference: tuple[Look, ...]
    """Looks to compare with: in the affinity of the answer, else the faster ones."""
    answer: Answer
    """The answer that stands if threads are no faster."""
    order: SeatOrder | None = None
    """The order of threads that is on trial; None where a hint is."""
    before: SeatOrder = "near home"
    """The order of threads in the looks of `reference`."""
    of_answer: bool = False
    """Whether the hint of the answer itself is on trial, in whose affinity no look was taken."""
    looks: tuple[Look, ...] = ()

    @property
    def what(self) -> str:
        """The name of the trial, for notes."""
        return SHOWN[self.order] if self.order else self.question.sampled_in.shown

    def saw(self, look: Look) -> Trying:
        """The trial with one more look."""
        return replace(self, looks=(*self.looks, look))
