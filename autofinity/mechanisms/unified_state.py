"""State of a run under `unified`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from autofinity.mechanisms.page_evidence import PageEvidence
from autofinity.mechanisms.seat_trial import SeatTrial
from autofinity.mechanisms.sharing_evidence import SharingEvidence
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, BindThreads, Interval
from autofinity.runtime.live_state import LiveState


@dataclass(frozen=True, slots=True)
class Seen:
    """The decider's state, the sharing so far, where threads sit, and what pages have shown."""

    live: LiveState
    sharing: SharingEvidence
    cpus: tuple[OsIndex, ...] = ()
    """Empty where threads have no PUs of their own."""
    pages: PageEvidence = field(default_factory=PageEvidence)
    trial: SeatTrial = field(default_factory=SeatTrial)

    def seeing(
        self, live: LiveState, interval: Interval, domain: Mapping[OsIndex, int], pages: int
    ) -> Seen:
        """With one more interval, at whose end the decider's state is `live`. Threads on CPUs of
        one `domain` cannot be seen to share; so many `pages` are remembered.
        """
        domains = [domain[cpu] for cpu in interval.cpus]
        return replace(
            self,
            live=live,
            sharing=self.sharing.seeing(interval.sharing, domains),
            pages=self.pages.seeing(interval, most=pages),
            trial=self.trial.seeing(interval),
        )

    def bound(self, actions: Sequence[Action]) -> Seen:
        """With threads where the last binding puts them: no order of seats is on trial any more,
        and earlier samples of pages came from other nodes than they would now.
        """
        masks = [each.placement.masks for each in actions if isinstance(each, BindThreads)]
        if not masks:
            return self
        cpus = tuple(min(mask) for mask in masks[-1])
        own = len(set(cpus)) == sum(map(len, masks[-1]))
        return replace(
            self,
            cpus=cpus if own else (),
            pages=replace(self.pages, since={}),
            trial=self.trial.elsewhere(),
        )
