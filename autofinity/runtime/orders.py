"""Orders of threads in the placements of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autofinity.model.answer_on_record import SeatOrder


@dataclass(frozen=True, slots=True)
class Orders:
    """The present order, and those before. Start with `Orders()`."""

    now: SeatOrder = "near home"
    first: SeatOrder = "near home"
    """Order in which the program was sampled first, or began because it was on record."""
    slower: frozenset[SeatOrder] = frozenset()
    """Orders that were tried in this run and were no faster: they are not tried again."""

    @property
    def changed(self) -> bool:
        """Whether threads sit in another order than at first."""
        return self.now != self.first

    def begun(self, order: SeatOrder) -> Orders:
        """Threads begin in this order."""
        return replace(self, now=order, first=order)

    def sampled(self) -> Orders:
        """The program is sampled. Caches that exchanged threads do so again only after another
        trial.
        """
        return self.begun("near home" if self.now == "near home" else "by number")

    def to(self, order: SeatOrder) -> Orders:
        """Threads move to this order."""
        return replace(self, now=order)

    def back_to(self, order: SeatOrder) -> Orders:
        """Threads move back to this order, since the present one was no faster."""
        return Orders(order, self.first, self.slower | {self.now})
