"""Puts threads of a live run on CPUs: by a hint, among the CPUs that may be used now, beside other
runs, and each thread next to those that it shares with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Hint
from autofinity.model.answer_on_record import SeatOrder
from autofinity.model.errors import PlacementError
from autofinity.model.memory import MemoryByNode
from autofinity.model.placement import CoreSet
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action
from autofinity.runtime.claims import Reserve, Reserved, reserve_alone
from autofinity.runtime.continuous import Watch
from autofinity.runtime.home_seats import (
    at_home,
    by_number,
    by_number_exchanged,
    neighbours,
    numbered,
)
from autofinity.runtime.live_state import LiveState, Phase, Settings, Turn
from autofinity.runtime.looking import LookCosts, refill_ns
from autofinity.runtime.masks import binding, union, widened
from autofinity.runtime.placed import Placed
from autofinity.runtime.seat_order import evens_out, work_of
from autofinity.runtime.seats import dealt
from autofinity.runtime.stay import Stay
from autofinity.runtime.undecided import LEFT

BY_SHARING = "threads that share pages are placed together, by page faults"
"""Note of a run whose threads have seats by sharing."""
_SEATS: Mapping[SeatOrder, Callable[..., CoreSet]] = {
    "near home": at_home,
    "by number": by_number,
    "exchanged": by_number_exchanged,
}


class Placer:
    """Chooses seats, keeps them in the state, and returns the binding actions."""

    def __init__(
        self,
        topology: Topology,
        available: Callable[[], frozenset[OsIndex]],
        settings: Settings,
        reserve: Reserve,
    ) -> None:
        """`available` gives the CPUs allowed now; `reserve` chooses cores among them beside other
        runs.
        """
        self.available = available
        self.memory: Callable[[], MemoryByNode | None] = lambda: None
        """Looks where the program's memory is."""
        several = topology.n_nodes > 1
        self._moves_to_memory = several and settings.bind != "none" and not settings.near
        self._topology = topology
        self._settings = settings
        # A run that binds nothing reserves nothing.
        self._reserve = reserve_alone if settings.bind == "none" else reserve

    def reserve(
        self,
        threads: int,
        hint: Hint,
        homes: Mapping[int, OsIndex] | None = None,
        order: SeatOrder = "near home",
        memory: MemoryByNode | None = None,
    ) -> Reserved:
        """The best match of a hint among the CPUs that may be used now, beside other runs.

        It is as near as possible to the device of the settings, else to the program's `memory` and
        the threads' `homes` (by position), in this order of threads. Raises `PlacementError`.
        """

        def pick(cpus: frozenset[OsIndex]) -> CoreSet:
            near = self._settings.near
            cores = get_affinity(self._topology, threads, hint, cpus, near)
            if not homes or near:  # who asks for a device's side does not ask to stay
                return cores
            return _SEATS[order](self._topology, homes, cores, cpus, memory)

        return self._reserve(threads, self.available(), pick)

    def order_matters(self, state: LiveState, hint: Hint) -> bool:
        """Whether more threads with neighbouring numbers share a cache, node or socket in the
        affinity of `hint` if they sit in the order of their numbers than near home.

        False where threads have no seats of their own, where sharing that was seen decides who sits
        beside whom, or a device where the threads are.
        """
        placed = state.placed
        if not self._orders(placed):
            return False
        homes = _homes(state, placed.seated)
        cores = get_affinity(self._topology, len(placed.seats), hint, placed.available)
        home, there = (
            neighbours(
                self._topology,
                seat(self._topology, homes, cores, placed.available, state.memory).cpus,
            )
            for seat in (at_home, by_number)
        )
        return there > home

    def exchange_matters(self, state: LiveState) -> bool:
        """Whether threads sit in the order of their numbers, and their caches have uneven work that
        an exchange would even out. False where the order by number has no say (`order_matters`).
        """
        placed, seats = state.placed, state.placed.seats
        if not self._orders(placed):
            return False
        ordered = numbered(self._topology, seats, {})
        sits = neighbours(self._topology, seats) == neighbours(self._topology, ordered)
        work = work_of(state.sampling.work, placed.seated)
        return sits and evens_out(self._topology, seats, work)

    def _orders(self, placed: Placed) -> bool:
        """Whether each thread has a seat, and nothing but its number decides which."""
        if self._settings.by_sharing or self._settings.near:
            return False
        return placed.all_seated

    def place(self, state: LiveState, hint: Hint, phase: Phase) -> Turn:
        """Place the computing threads by the best match of a hint for as many as run at a time.

        Without such a match the threads are left alone.
        """
        first = state.memory is None and not state.placed.cpus
        # Where threads are placed their pages may have followed them.
        if self._moves_to_memory and (first or state.phase == "placed"):
            state = replace(state, memory=self.memory() or state.memory)
        # With fewer CPUs there are no spare ones, and with still fewer no placement.
        room = min(state.workers.room, max(state.workers.at_a_time, len(self.available())))
        seated = state.workers.seated_on(room)
        try:
            homes = _homes(state, seated)
            reserved = self.reserve(room, hint, homes, state.order.now, state.memory)
        except PlacementError as error:
            return self.leave_alone(state, error)
        if reserved.note:
            state = state.noting(reserved.note)
        cores = reserved.cores
        placed = Placed(
            threads=state.workers.computing,
            hint=hint,
            room=room,
            affinity=None if self._settings.bind == "none" else cores.affinity,
            seats=cores.cpus,
            seated=seated[: len(cores.cpus)],
            available=reserved.available,
            allowed=self.available(),
            crowded=bool(reserved.note),
        )
        state = replace(
            state,
            phase=phase,
            placed=placed,
            stay=Stay(),
            sampling=state.sampling.moved() if phase == "settling" else state.sampling,
            costs=self._costs(state, cores.cpus),
            watch=Watch(),
        )
        if self._settings.by_sharing and phase == "placed":
            placed = replace(placed, seats=self._dealt(state))
        return self._seat(state, placed)

    def seat_anew(self, state: LiveState) -> Turn:
        """Assign new seats by sharing to the threads of a placed program."""
        if not self._settings.by_sharing or state.phase != "placed" or not state.same_threads:
            return state, ()
        seats = self._dealt(state)
        state = replace(state, sharing=state.sharing.faded())
        if seats == state.placed.seats:
            return state, ()
        state = state.noting(BY_SHARING)
        return self._seat(state, replace(state.placed, seats=seats))

    def _dealt(self, state: LiveState) -> tuple[OsIndex, ...]:
        """The seats assigned by sharing, where each seat belongs to one thread."""
        seats, seated = state.placed.seats, state.placed.seated
        if len(seated) != len(seats):
            return seats
        return dealt(self._topology, seats, state.sharing.among(seated))

    def _costs(self, state: LiveState, seats: Sequence[OsIndex]) -> LookCosts:
        """Cost of looks, once threads are on these seats."""
        if tuple(seats) == state.placed.seats:
            return state.costs
        return state.costs.moved(refill_ns(self._topology, len(seats)))

    def let_go(self, numbers: frozenset[int]) -> Sequence[Action]:
        """Let threads run anywhere: they may have inherited a worker's narrow mask."""
        if not numbers or self._settings.bind == "none":
            return ()
        return (binding((), (), numbers, self.available()),)

    def leave_alone[State: LiveState](
        self, state: State, error: PlacementError
    ) -> tuple[State, Sequence[Action]]:
        """Leave all threads alone, for the reason given; bound threads may run anywhere."""
        return self.let_all_go(state.noting(f"{LEFT}{error}"))

    def let_all_go[State: LiveState](self, state: State) -> tuple[State, Sequence[Action]]:
        """Leave all threads alone until other threads compute or other CPUs are allowed.

        Bound threads may run anywhere; those of a rank anywhere in its share.
        """
        bound_now = bool(state.placed.cpus) or self._settings.divided or self._settings.seated
        bound = frozenset(number for number, _ in state.workers.alive if bound_now)
        left = state.placed.left_alone(state.workers.computing, self.available())
        state = replace(
            state.without_trial(),
            phase="left alone",
            placed=replace(left, cpus=frozenset()),
            memory=None,
            order=state.order.to("near home"),
        )
        return state, self.let_go(bound)

    def bind[State: LiveState](
        self, state: State, masks: Sequence[frozenset[OsIndex]]
    ) -> tuple[State, Sequence[Action]]:
        """Bind the threads of the placement to these PUs, widened as far as the settings allow."""
        placed = state.placed
        masks = widened(self._topology, masks, placed.available, self._settings.bind)
        state = replace(state, placed=replace(placed, cpus=union(masks)))
        if self._settings.bind == "none":
            return state, ()
        alive = [number for number, _ in state.workers.alive]
        beside = self._beside(state)
        numbers, masks = (*placed.threads, *beside), (*masks, *beside.values())
        return state, (binding(numbers, masks, alive, self.available()),)

    def _beside(self, state: LiveState) -> Mapping[int, frozenset[OsIndex]]:
        """Masks of the team's threads that hardly compute: the caches of the others, with room.

        With those that were promised the team is complete, so all threads work for each other: the
        last stage of a pipeline, say, whom the system would leave on a distant node. Not the first
        thread: a runtime counts the CPUs in its mask.
        """
        alive = [number for number, _ in state.workers.alive]
        if len(alive) != self._settings.threads:
            return {}
        idle = [number for number in alive[1:] if number not in state.placed.threads]
        pus, caches = self._topology.by_os_index, self._caches(state.placed)
        spare = {pus[cpu].core for cpu in caches} - {pus[cpu].core for cpu in state.placed.seats}
        return dict.fromkeys(idle, caches) if len(idle) <= len(spare) else {}

    def _caches(self, placed: Placed) -> frozenset[OsIndex]:
        """PUs in the caches of the affinity."""
        seats = frozenset(placed.seats)
        return union(widened(self._topology, (seats,), placed.available, "llc"))

    def _seat(self, state: LiveState, placed: Placed) -> Turn:
        own = placed.seat_of
        # Threads that take turns may use all cores of the affinity's caches: on the seats alone
        # each would lose its private caches to the others, while cores beside them are idle. (So
        # a wave over 64 threads, of which 34 ran at a time, took longer than under the OS.)
        everywhere = self._caches(placed)
        masks = [frozenset({own[n]}) if n in own else everywhere for n in placed.threads]
        return self.bind(replace(state, placed=placed), masks)


def _homes(state: LiveState, seated: Sequence[int]) -> dict[int, OsIndex]:
    """Homes of the threads that get a seat, by position."""
    numbers = enumerate(seated)
    return {n: state.homes[number] for n, number in numbers if number in state.homes}
