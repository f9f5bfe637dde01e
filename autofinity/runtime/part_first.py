"""The loss of a program by remote pages, measured: a part of the pages moves first. Pure.

    rates before ─► one page in eight moves ─► rates after ─► loss by remote pages

Without that the loss has an upper bound only: misses of the last-level cache may be prefetches that
nothing waits for, or overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from autofinity.runtime.before_after import FEWEST, LOOKS, OF_INSTRUCTIONS, BeforeAfter
from autofinity.runtime.looks import Look
from autofinity.runtime.phases import Phase

ONE_IN = 8
"""One of so many batches of pages moves first: all threads have some of them."""
LOOK_NS = 250_000_000
"""Length of a look at the program's rate."""
_PATIENCE_NS = 10_000_000_000
"""Time before the move, or after it, after which the trial ends without a result: rates were not
counted, threads were not all at work, or looks were at phases that were not seen before."""


class Loss(NamedTuple):
    """Share of its time that a program would lose if all its pages were remote."""

    likely: float
    most: float
    """Upper boundary."""
    evident: float
    """The loss that looks are evidence of: a standard error less than the likely one."""

    def text(self, share: float) -> str:
        """A line, for people, on why the rest of the pages stays; `share`: that of these pages."""
        return (
            f"one in {ONE_IN} of these pages was moved to its threads: all would make the program "
            f"{self.likely * share:.1%} faster, {self.evident * share:.1%} less the error of the "
            "looks, which does not pay for moving them"
        )


@dataclass(frozen=True, slots=True)
class PartFirst:
    """Start with `PartFirst()`."""

    rates: BeforeAfter = OF_INSTRUCTIONS
    bytes_moved: int = 0
    """0 before the part has moved."""
    passed_ns: int = 0
    """Time since the beginning, or since the part moved."""

    def saw(self, look: Look, *, counts: bool) -> PartFirst:
        """With one more look at the program, which may not count. The first after the move never
        does: caches still fill.
        """
        rates, seen = self.rates, (Phase.of(look.behaviour), look.elapsed_ns)
        rate = look.behaviour["instructions"]
        if counts and look.all_at_work:
            if not self.bytes_moved:
                rates = rates.saw_before(rate, *seen)
            elif self.passed_ns:
                rates = rates.saw_after(rate, *seen)
        return replace(self, rates=rates, passed_ns=self.passed_ns + look.elapsed_ns)

    def may_move(self, share: float, needed: float) -> bool:
        """Whether enough looks were taken before the part moves, which is a `share` of all memory:
        more of them where rates vary by more than the `needed` loss would show in the part.
        """
        looks = len(self.rates.before)
        if looks < FEWEST:
            return False
        return looks >= LOOKS or self.rates.error_before < share * needed / 2

    @property
    def late(self) -> bool:
        """Whether a loss that is not known by now will not be."""
        return self.passed_ns > _PATIENCE_NS

    def moved(self, size_bytes: int) -> PartFirst:
        """With so many bytes moved as the part."""
        return replace(self, bytes_moved=size_bytes, passed_ns=0)

    def loss(self, total_bytes: int, needed: float) -> Loss | None:
        """The loss, if all `total_bytes` were remote; None where that is not known yet. `needed`:
        the loss from which on moving all pages pays.

        The rates of `dedup` vary more from look to look than a part of a twentieth would show:
        where the likely loss decided, its pages moved by chance.
        """
        found, share = self.rates.difference, self.bytes_moved / total_bytes
        if found is None or not found.error < share:  # not even the loss of all time would show
            return None
        clear = found.least >= share * needed or found.most < share * needed
        if not clear and not self.late and len(self.rates.after) < LOOKS:
            return None
        seen = found.relative, found.most, found.relative - found.error
        return Loss(*(min(1.0, max(0.0, each / share)) for each in seen))
