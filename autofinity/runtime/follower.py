"""Follows a placed program: samples the result, checks the gain, and tracks changing threads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from autofinity.model.affinity import SPREAD, Hint
from autofinity.ports import Interval
from autofinity.runtime.continuous import Watch
from autofinity.runtime.live_state import LiveState, Settings, Turn
from autofinity.runtime.looks import Look, length_ns, look_of, mean_of
from autofinity.runtime.phases import Phase
from autofinity.runtime.placer import Placer
from autofinity.runtime.seat_order import SHOWN

_MUCH_LESS = 0.75
"""Share of the room of a placement below which threads get a smaller placement."""


class Follower:
    """Looks at threads that are placed, or were placed before."""

    def __init__(self, placer: Placer, settings: Settings) -> None:
        self._placer = placer
        self._settings = settings

    def outcome(self, state: LiveState, interval: Interval) -> LiveState:
        """Sample in the chosen affinity, from the second undisturbed look on."""
        if not state.samples.wants_outcome(state.placed.affinity):
            return state
        if not state.same_threads:
            return replace(state, stay=state.stay.disturbed())
        if not state.stay.settled:
            return replace(state, stay=replace(state.stay, settled=True))
        look = look_of(interval, state.workers, state.cores)
        if not _counts(state, look):
            return state
        stay = state.stay.saw_outcome(look)
        if length_ns(stay.outcomes) < self._settings.sample_ns:
            return replace(state, stay=stay)
        samples = replace(state.samples, outcome=mean_of(stay.outcomes))
        return replace(state, stay=replace(stay, outcomes=()), samples=samples)

    def look_again(
        self, state: LiveState, interval: Interval, counters: Iterable[str]
    ) -> LiveState:
        """Continuous mode: one more look at a placed program, with the counters of its policy.

        A look that was cut short, while pages are under way, shows their copying: the watch begins
        again after it.
        """
        elapsed = interval.end_ns - interval.start_ns
        if not state.same_threads or 2 * elapsed < self._settings.every_ns:
            return replace(state, watch=Watch())
        look = look_of(interval, state.workers, state.cores)
        if not _counts(state, look):
            return replace(state, watch=state.watch.passed(elapsed))
        seen = look.behaviour
        counted = [
            name
            for name in (*counters, "instructions")
            if name in seen.values and name not in state.missing
        ]
        if not counted:
            return state.noting(
                "no hardware counter shows changes of the program: only its threads are watched"
            )
        return replace(state, watch=state.watch.after(seen, elapsed, counted))

    def follow(self, state: LiveState, interval: Interval, rate: float) -> Turn:
        """One look at a placed program; `rate` is its progress per second."""
        state = self._guarded(state, interval, rate)
        hint = state.placed.hint
        if state.guard.undo and hint is not None and _moved(state):
            return self._taken_back(state, hint)
        newcomers = interval.threads("begin")
        if state.same_threads:
            if state.placed.renewed and hint is not None:
                return self._renewed(state, newcomers, hint)
            state = replace(state, unsettled=0)
            if hint is not None and self._placer.available() != state.placed.allowed:
                return self._placer.place(
                    state.noting("its cgroup allows other CPUs: placed again"), hint, "placed"
                )
            if hint is not None and self._wants_other_room(state):
                swings = state.swings or state.workers.at_a_time > state.placed.room
                return self._placer.place(replace(state, swings=swings), hint, "placed")
            return state, self._placer.let_go(newcomers)
        if state.steady == 0:
            return self._unsettled(state, newcomers)
        if hint is None or len(state.workers.computing) < 2:
            return state, self._placer.let_go(newcomers)
        return self._placer.place(replace(state, unsettled=0), hint, "placed")

    def _wants_other_room(self, state: LiveState) -> bool:
        """Whether more threads want to run at a time than there is room for, or far fewer."""
        workers, room = state.workers, state.placed.room
        if workers.at_a_time > room:
            return True
        return not state.swings and workers.room < _MUCH_LESS * room

    def _guarded(self, state: LiveState, interval: Interval, rate: float) -> LiveState:
        if state.decision is None or state.guard.verdict != "undecided":
            return state
        cold = state.stay.ns < self._settings.settle_ns
        state = replace(state, stay=state.stay.looked(interval.end_ns - interval.start_ns))
        if cold:  # caches still fill after the move
            return state
        look = look_of(interval, state.workers, state.cores)
        guard = state.guard.saw_after(rate, Phase.of(look.behaviour), look.elapsed_ns)
        return replace(state, guard=guard)

    def _taken_back(self, state: LiveState, hint: Hint) -> Turn:
        order, back = state.order, state.placed.affinity == state.samples.start_in
        order_alone = order.changed and (hint == SPREAD or back)
        what = SHOWN[order.now] if order_alone else hint.shown
        matter = "the order of threads" if order_alone else "affinity"
        state = state.noting(
            f"taken back: {matter} does not matter here"
            if state.guard.verdict == "same"
            else f"taken back: {what} was {state.guard.verdict} than before"
        )
        if order.changed:
            state = replace(state, order=order.back_to(order.first))
        if order_alone:
            return self._placer.place(state, hint, "placed")
        return self._placer.place(replace(state, refuted=state.refuted | {hint}), SPREAD, "placed")

    def _renewed(self, state: LiveState, newcomers: frozenset[int], hint: Hint) -> Turn:
        """Place the threads that do the work of threads that have ended, as for the next phase of a
        program that starts threads for each.
        """
        if state.unsettled + 1 >= self._settings.restless_looks:
            return self._unsettled(state, newcomers)
        return self._placer.place(replace(state, unsettled=state.unsettled + 1), hint, "placed")

    def _unsettled(self, state: LiveState, newcomers: frozenset[int]) -> Turn:
        state = replace(state, unsettled=state.unsettled + 1)
        if state.unsettled < self._settings.restless_looks:
            return state, self._placer.let_go(newcomers)
        # A program that starts and ends workers all the time (a build, a server that forks)
        # would hand each of them its creator's narrow mask: it is better off without any.
        state = state.noting("let go: its threads start and end faster than they can be placed")
        alive = frozenset(number for number, _ in state.workers.alive)
        state = replace(
            state,
            phase="left alone",
            placed=state.placed.left_alone(state.workers.computing, self._placer.available()),
            unsettled=0,
            restless=True,
        )
        return state, self._placer.let_go(alive)


def guarded(state: LiveState) -> bool:
    """Whether the guard still judges the placement, which needs known progress."""
    judged = state.guard.rates.before and state.guard.verdict == "undecided"
    return bool(judged) and state.decision is not None and _moved(state)


def _counts(state: LiveState, look: Look) -> bool:
    """Whether a look shows the program, as in a sample: its threads were all at work."""
    return state.workers.active and look.all_at_work


def _moved(state: LiveState) -> bool:
    """Whether threads are placed otherwise than where they were sampled first."""
    if state.order.changed:
        return True
    return state.placed.hint != SPREAD and state.samples.elsewhere(state.placed.affinity)
