"""How long a sample may go on, and how often threads may move for it."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.runtime.live_state import LiveState, Settings

FEWEST_AGAIN = 2
"""Looks in a second place, at least: it may cost the program most. A slower one may be cold."""


@dataclass(frozen=True, slots=True)
class LookLimits:
    """Limits of one run: time, moves, and the cost that all looks of the run may have."""

    settings: Settings

    @property
    def sample_ns(self) -> int:
        """Usual length of a sample."""
        return self.settings.sample_ns

    def exhausted(self, state: LiveState) -> bool:
        """Whether looks in the present place have taken as long as they may."""
        return state.stay.ns >= 2 * self.sample_ns or not self._affordable(state)

    def may_return(self, state: LiveState) -> bool:
        """Whether threads may move once more for a look."""
        return state.sampling.visits < self.settings.visits and self._affordable(state)

    def _affordable(self, state: LiveState) -> bool:
        return state.costs.sample_left_ns(state.waited_ns) > 0
