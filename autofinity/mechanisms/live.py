"""A recipe on a running program: threads come and go, and it sees those that compute.

    interval ─► who computes? (`Workers`) ─► renumbered: 0, 1, 2, … ─► recipe.step ─► actions
                                                                                          │
            masks of the threads, whatever else runs anywhere; pages where allowed ◄──────┘

In the simulator, threads and machine of a recipe are fixed beforehand. Here a recipe is restarted
whenever other threads compute, with the sharing that was seen of those that are left. A kernel maps
many threads in microseconds, and Python does not: steps are charged as looks are (`OnBudget`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autofinity.mechanisms.live_view import CLOCK_HZ, is_believed, narrowed
from autofinity.mechanisms.recipe import Recipe, Setting
from autofinity.mechanisms.registry import LIVE
from autofinity.model.affinity import SPREAD
from autofinity.model.errors import PlacementError
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, MovePages
from autofinity.runtime.claims import Reserve, reserve_alone
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.placed import Placed
from autofinity.runtime.placer import Placer
from autofinity.runtime.undecided import ONE_OF_A_RANK


@dataclass(frozen=True, slots=True)
class Mapped(LiveState):
    """State of a run under a recipe."""

    recipe: Recipe[Any] | None = None
    """For the threads of `placed`; None while nobody is placed."""
    inner: Any = None
    """The recipe's own state."""
    begins: bool = False
    """Whether the recipe has not seen anything yet."""
    shown: bool = False
    """Whether enough sharing was seen for the recipe to look at it."""


class LiveRecipe:
    """A mechanism by its name in `registry.LIVE`, as a `ports.Mechanism` on a running program."""

    def __init__(
        self,
        name: str,
        topology: Topology,
        available: Callable[[], frozenset[OsIndex]],
        settings: Settings,
        *,
        policy: RulePolicy | None = None,
        migrate_pages: bool = False,
        reserve: Reserve = reserve_alone,
    ) -> None:
        """`available` gives the CPUs allowed now, `reserve` chooses among them beside other runs.
        Raises `KeyError` for a name not in `LIVE`, `UsageError` for a policy that is missing.
        """
        self.name = name
        self._topology = topology
        self._settings = settings
        self._policy = policy
        moves_pages = LIVE[name].moves_pages
        self._migrate_pages = migrate_pages and moves_pages and topology.n_nodes > 1
        self._notes = [
            _about_pages(topology, migrate_pages=migrate_pages)
            if moves_pages
            else f"pages stay where they are: {name} moves threads only"
        ]
        if LIVE[name].mapped_by:
            self._notes.append(f"threads are mapped by {LIVE[name].mapped_by}")
        self._placer = Placer(topology, available, settings, reserve)
        self.sensors = self._recipe(topology, 1).sensors

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> Mapped:
        """State before the first look; machine and thread count are known since construction."""
        del topology, threads
        return Mapped(placed=Placed(available=available), notes=tuple(self._notes))

    def period_ns(self, state: Mapped) -> int:
        """How long the next look takes."""
        if state.recipe is None or state.unsettled:
            return self._settings.look_ns
        return state.recipe.period_ns(state.inner)

    def step(self, state: Mapped, interval: Interval) -> tuple[Mapped, Sequence[Action]]:
        """One turn."""
        state = state.looked(interval)
        if interval.ended:
            return state, ()
        known = state.same_threads and (
            # Its cgroup may allow other CPUs by now than when it was begun or left alone.
            self._placer.available() == state.placed.allowed
        )
        if state.recipe is not None and known:
            state, actions = self._turn(replace(state, unsettled=0), state.recipe, interval)
        elif self._complete(state) and not (state.phase == "left alone" and known):
            state, actions = self._begun(state)
        else:
            state, actions = replace(state, unsettled=state.unsettled + 1), ()
        if any(isinstance(action, BindThreads) for action in actions):  # of all threads
            return state, actions
        return state, (*self._placer.let_go(interval.threads("begin")), *actions)

    def _complete(self, state: Mapped) -> bool:
        count, promised = len(state.workers.computing), self._settings.threads
        # One thread has nobody to share with, but a rank's share to keep to.
        enough = count > 1 or (count == 1 and self._settings.divided)
        if not enough or state.steady < self._settings.steady_looks:
            return False
        return count >= promised or state.waited_ns >= self._settings.patience_ns

    def _begun(self, state: Mapped) -> tuple[Mapped, Sequence[Action]]:
        """A recipe for the threads that compute now, which looks from the next interval on."""
        computing = state.workers.computing
        if len(computing) < 2:
            return self._placer.let_all_go(replace(state.noting(ONE_OF_A_RANK), recipe=None))
        try:
            reserved = self._placer.reserve(len(computing), SPREAD)
            available, note = reserved.available, reserved.note
        except PlacementError:  # several threads to a CPU: no core is anybody's own
            available = self._placer.available()
            note = f"{len(computing)} threads take turns on {len(available)} CPUs"
        topology = self._topology.restricted(available)
        try:
            recipe = self._recipe(topology, len(computing))
        except PlacementError as error:
            return self._placer.leave_alone(replace(state, recipe=None), error)
        state = replace(
            state,
            phase="placed",
            placed=replace(
                state.placed,
                threads=computing,
                available=available,
                allowed=self._placer.available(),
                crowded=bool(note),
            ),
            recipe=recipe,
            inner=recipe.begin(topology, available, len(computing)),
            begins=True,
            shown=False,
            unsettled=0,
        )
        if note:
            state = state.noting(note)
        start = recipe.start.placement
        if start is not None:
            return self._translated(state, [BindThreads(start)])
        # A rank keeps to its share before its threads are mapped, too.
        everybody = frozenset(number for number, _ in state.workers.alive)
        return state, self._placer.let_go(everybody) if self._settings.divided else ()

    def _recipe(self, topology: Topology, threads: int) -> Recipe[Any]:
        return LIVE[self.name].make_live(Setting(topology, threads, CLOCK_HZ, policy=self._policy))

    def _turn(
        self, state: Mapped, recipe: Recipe[Any], interval: Interval
    ) -> tuple[Mapped, Sequence[Action]]:
        seen = narrowed(state.workers, state.placed.threads, interval, begins=state.begins)
        if not self._migrate_pages:
            seen = replace(seen, pages=None)
        if not self._topology.by_os_index.keys() >= set(seen.cpus):
            seen = replace(seen, cpus=())  # CPUs that came after the machine was read
        if not state.shown:
            sharing = state.sharing.among(state.placed.threads)
            state = replace(state, shown=is_believed(sharing))
            seen = replace(seen, sharing=sharing if state.shown else None)
        inner, actions = recipe.step(state.inner, seen)
        return self._translated(replace(state, inner=inner, begins=False), actions)

    def _translated(
        self, state: Mapped, actions: Sequence[Action]
    ) -> tuple[Mapped, Sequence[Action]]:
        """Actions on threads 0, 1, 2, … of the recipe, as actions on the threads of the program."""
        wanted: list[Action] = []
        pages: dict[int, int] = {}
        for action in actions:
            if isinstance(action, BindThreads):
                state, bound = self._placer.bind(state, action.placement.masks)
                wanted += bound
            elif isinstance(action, MovePages) and self._migrate_pages:
                pages.update(zip(action.pages, action.nodes, strict=True))
        if pages:
            wanted.append(MovePages(tuple(pages), tuple(pages.values())))
        return state, wanted


def _about_pages(topology: Topology, *, migrate_pages: bool) -> str:
    if topology.n_nodes < 2:
        return "one NUMA node: there is nowhere to move a page to"
    if not migrate_pages:
        return "pages stay where they are; --migrate-pages lets them follow"
    return "pages follow the threads that use them"
