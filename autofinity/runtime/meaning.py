"""The hint that a decision leads to in this run, and its affinity on the CPUs that are free."""

from __future__ import annotations

from collections.abc import Callable

from autofinity.affinity.best_matches import BestMatches, all_cores
from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.policy import Decision, RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.continuous import decisive
from autofinity.runtime.live_state import LiveState


class Meaning:
    """The meaning of hints for a number of threads."""

    def __init__(
        self, topology: Topology, policy: RulePolicy, available: Callable[[], frozenset[OsIndex]]
    ) -> None:
        """`available`: the CPUs that the program may be placed on now."""
        self._topology = topology
        self._policy = policy
        self._available = available

    def of(self, hint: Hint, threads: int) -> Hint:
        """The hint in its meaning for so many threads."""
        cores = all_cores(self._topology, self._available())
        return self._policy.at(hint, threads, cores)

    def chosen(self, state: LiveState, decision: Decision) -> tuple[LiveState, Hint]:
        """The hint that a decision leads to, with a note where it is another one.

        In continuous mode a near tie keeps the former answer. A hint that was slower in this run is
        not tried again.
        """
        hint = self.of(decision.hint, state.workers.room)
        standing = state.standing
        if hint in state.refuted:
            state = state.noting(f"{hint.shown} was tried and taken back: not tried again")
            return state, SPREAD
        if standing not in (None, hint) and not decisive(decision.margin):
            assert standing is not None
            return state.noting(f"{hint.shown} is nearly a tie: {standing.shown} stays"), standing
        return state, hint

    def leads_to(self, state: LiveState, decision: Decision) -> Affinity:
        """The affinity that a decision leads to."""
        return self.affinity_of(state, self.chosen(state, decision)[1])

    def affinity_of(self, state: LiveState, hint: Hint) -> Affinity:
        """The affinity of a hint for the program's threads."""
        placed = state.placed
        return BestMatches(self._topology.restricted(placed.available))(placed.room, hint)
