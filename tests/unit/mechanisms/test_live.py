"""Recipes on running programs: only who computes is mapped; pages move where that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from autofinity.mechanisms.live import LiveRecipe, Mapped
from autofinity.mechanisms.monitor import by_mechanism
from autofinity.mechanisms.registry import BY_POLICY, LIVE
from autofinity.model.affinity import PACKED
from autofinity.model.counters import CounterSample
from autofinity.model.placement import Placement
from autofinity.model.policy import RulePolicy
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import PU, Cache, OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, MovePages, ThreadEvent
from autofinity.runtime.claims import reserve_alone
from autofinity.runtime.live_state import Settings
from autofinity.runtime.request import Request
from autofinity.runtime.surroundings import Surroundings

MS = 1_000_000
TIDS = (100, 101, 102, 103, 104)
"""The main thread, which waits, and four that compute."""
EVERY = frozenset(OsIndex(cpu) for cpu in range(4))


def machine(nodes: int) -> Topology:
    """Four cores, two to a cache and node."""
    pus = tuple(
        PU(OsIndex(core), 0, core, core // 2, core // 2, core // 2 if nodes > 1 else 0)
        for core in range(4)
    )
    distances = ((10, 20), (20, 10)) if nodes > 1 else ((10,),)
    numbers = tuple(OsIndex(4 * node) for node in range(nodes))
    return Topology(
        "test", "synthetic", pus, numbers, distances, EVERY, (Cache(3, 1_000_000, 64, 16, 2),)
    )


def pairs(*shared: tuple[int, int, float], threads: int = 5) -> SharingMatrix:
    cells = [[0.0] * threads for _ in range(threads)]
    for i, j, count in shared:
        cells[i][j] = cells[j][i] = count
    return SharingMatrix(tuple(map(tuple, cells)))


class Program:
    """Five threads under a recipe, look by look."""

    def __init__(self, recipe: LiveRecipe) -> None:
        self.recipe = recipe
        self.state: Mapped = recipe.begin(machine(1), EVERY, 0)
        self.at = 0

    def look(
        self,
        sharing: SharingMatrix | None = None,
        pages: NumaVectors | None = None,
        events: Sequence[ThreadEvent] = (),
        busy: Sequence[int] = TIDS[1:],
    ) -> Sequence[Action]:
        begun = () if self.at else tuple(ThreadEvent("begin", n, t, 0) for n, t in enumerate(TIDS))
        start, self.at = self.at, self.at + 100 * MS
        samples = tuple(
            CounterSample(tid, start, self.at, {"task_clock_ns": 90 * MS}, 100 * MS, 100 * MS)
            for tid in busy
        )
        cpus = tuple(OsIndex(n % 4) for n in range(len(TIDS)))
        interval = Interval(
            start, self.at, samples, (*begun, *events), sharing=sharing, pages=pages, cpus=cpus
        )
        self.state, actions = self.recipe.step(self.state, interval)
        return actions

    def settle(self) -> None:
        """Until its threads are complete."""
        for _ in range(5):
            if self.state.phase != "placed":
                self.look()
        assert self.state.phase == "placed"


def recipe(
    name: str, nodes: int = 1, *, migrate_pages: bool = False, divided: bool = False
) -> LiveRecipe:
    settings = Settings(bind="core", divided=divided)
    policy = RulePolicy((), {}, (), PACKED)
    topology = machine(nodes)
    return LiveRecipe(
        name, topology, lambda: EVERY, settings, policy=policy, migrate_pages=migrate_pages
    )


def masks(actions: Sequence[Action]) -> Placement:
    (found,) = [action.placement for action in actions if isinstance(action, BindThreads)]
    return found


def caches(placement: Placement) -> list[int]:
    """Cache of each computing thread."""
    return [next(iter(mask)) // 2 for mask in placement.masks[1:]]


@pytest.mark.parametrize("name", ["kmaf", "kmaf14", "spcd"])
def test_who_shares_sits_at_one_cache_and_who_does_not_compute_runs_anywhere(name: str) -> None:
    program = Program(recipe(name))
    program.settle()
    placement = masks(program.look(pairs((1, 3, 50.0), (2, 4, 50.0), (0, 1, 900.0))))
    assert placement.masks[0] == EVERY
    assert all(len(mask) == 1 for mask in placement.masks[1:])
    assert caches(placement)[:2] == caches(placement)[2:]
    assert len(set(caches(placement))) == 2


def test_sharing_seen_before_the_threads_were_complete_counts() -> None:
    program = Program(recipe("kmaf"))
    program.look(pairs((1, 3, 50.0), (2, 4, 50.0)))
    program.settle()
    placement = masks(program.look(pairs()))
    assert caches(placement)[:2] == caches(placement)[2:]


@pytest.mark.parametrize("name", ["kmaf", "kmaf14", "spcd"])
def test_a_lone_page_that_two_threads_met_on_seats_nobody(name: str) -> None:
    program = Program(recipe(name))
    program.settle()
    for _ in range(3):
        actions = program.look(pairs((1, 2, 1.0)))
        assert not [action for action in actions if isinstance(action, BindThreads)]
    placement = masks(program.look(pairs((1, 3, 50.0), (2, 4, 50.0))))
    assert caches(placement)[:2] == caches(placement)[2:]


@pytest.mark.parametrize("name", ["spcd", "kmaf14", "kmaf", "unified"])
def test_a_helper_that_a_placed_thread_starts_runs_anywhere(name: str) -> None:
    """Its mask is that of the thread that made it."""
    program = Program(recipe(name))
    program.settle()
    for _ in range(3):
        program.look(pairs((1, 3, 100.0), (2, 4, 100.0)))
    begun = ThreadEvent("begin", 5, 105, program.at)
    bound = masks(program.look(events=[begun]))
    assert bound.masks[5] == EVERY
    assert not masks(program.look(events=[ThreadEvent("begin", 6, 106, 0)])).masks[5]


@pytest.mark.parametrize("name", ["spcd", "kmaf14", "kmaf"])
def test_a_rank_keeps_to_its_share_before_its_threads_are_mapped(name: str) -> None:
    def first_masks(*, divided: bool, busy: Sequence[int]) -> list[frozenset[OsIndex]]:
        program = Program(recipe(name, divided=divided))
        turns = [program.look(busy=busy) for _ in range(8)]
        return [mask for turn in turns if turn for mask in masks(turn).masks]

    for busy in (TIDS[1:], TIDS[:1]):
        assert first_masks(divided=True, busy=busy) == [EVERY] * 2 * len(TIDS)
        assert first_masks(divided=False, busy=busy) == [EVERY] * len(TIDS)
    program = Program(recipe(name, divided=True))
    for _ in range(5):
        program.look(busy=TIDS[:1])
    assert program.state.phase == "left alone"
    program.settle()
    first, second, third, fourth = caches(masks(program.look(pairs((1, 3, 100.0), (2, 4, 100.0)))))
    assert first == third != second == fourth


def test_the_monitor_of_a_rank_says_that_cpus_are_its_share() -> None:
    journal: Any = SimpleNamespace(reserve=lambda topology, *asked: reserve_alone(*asked))
    request = Request(1, "app", "key", "0-3", mechanism="kmaf")
    for divided in (False, True):
        around = Surroundings(machine(1), None, lambda: EVERY, journal, divided=divided)
        made = by_mechanism(request, around)
        assert isinstance(made, LiveRecipe)
        program = Program(made)
        for _ in range(8):
            program.look()
        assert any(program.look(busy=TIDS[:1]) for _ in range(40)) == divided


def test_other_threads_are_another_mapping_and_what_is_gone_is_forgotten() -> None:
    program = Program(recipe("kmaf"))
    program.settle()
    program.look(pairs((1, 3, 50.0), (2, 4, 50.0)))
    # Thread 4 ends, and another one gets its number: it may run anywhere until it computes.
    events = (ThreadEvent("end", 4, 104, 0), ThreadEvent("begin", 4, 200, 0))
    freed = masks(program.look(events=events, busy=TIDS[1:4]))
    assert freed.masks == (frozenset(), frozenset(), frozenset(), frozenset(), EVERY)
    for _ in range(6):
        program.look(busy=(*TIDS[1:4], 200))
    assert program.state.placed.threads == (1, 2, 3, 4)
    assert program.state.sharing.counts == {(1, 3): 50.0}
    placement = masks(program.look(pairs((1, 2, 900.0)), busy=(*TIDS[1:4], 200)))
    assert caches(placement)[0] == caches(placement)[1]


def test_pages_follow_where_that_is_asked_for_and_there_is_a_node_to_go_to() -> None:
    seen = NumaVectors({7: (0, 9), 8: (9, 0)}, nodes={7: 0, 8: 0})
    matrix = pairs((1, 3, 50.0), (2, 4, 50.0))
    for nodes, migrate, expected, note in (
        (2, True, [MovePages((7,), (1,))], "pages follow the threads that use them"),
        (2, False, [], "--migrate-pages lets them follow"),
        (1, True, [], "one NUMA node: there is nowhere to move a page to"),
    ):
        program = Program(recipe("kmaf", nodes, migrate_pages=migrate))
        assert note in program.state.notes[0]
        program.settle()
        actions = program.look(matrix, seen)
        assert [action for action in actions if isinstance(action, MovePages)] == expected


@pytest.mark.parametrize("migrate", [False, True])
def test_a_mechanism_of_threads_only_says_that_pages_stay(migrate: bool) -> None:
    notes = Program(recipe("spcd", nodes=2, migrate_pages=migrate)).state.notes
    assert notes == ("pages stay where they are: spcd moves threads only",)


def test_kmaf14_section_3_4_1_a_run_says_who_maps_its_threads() -> None:
    for name, said in (("kmaf14", True), ("kmaf", False)):
        notes = Program(recipe(name)).state.notes
        assert any(note.startswith("threads are mapped by ") for note in notes) == said


def test_more_threads_than_cpus_take_turns_and_unified_which_wants_one_each_says_so() -> None:
    for name, phase in (("kmaf", "placed"), ("unified", "left alone")):
        crowded = LiveRecipe(
            name,
            machine(1),
            lambda: frozenset({OsIndex(0), OsIndex(2)}),
            Settings(bind="core"),
            policy=RulePolicy((), {}, (), PACKED),
        )
        program = Program(crowded)
        for _ in range(6):
            program.look()
        assert program.state.phase == phase


def test_unified_spreads_at_once_and_seats_by_sharing_again_and_again_without_any_counter() -> None:
    program = Program(recipe("unified"))
    for pair, other in (((1, 2), (3, 4)), ((1, 3), (2, 4)), ((1, 4), (2, 3))):
        placements = []
        for _ in range(200):
            actions = program.look(pairs((*pair, 20.0), (*other, 20.0)))
            placements += [a.placement for a in actions if isinstance(a, BindThreads)]
        for a, b in (pair, other):
            assert caches(placements[-1])[a - 1] == caches(placements[-1])[b - 1]


def test_every_mechanism_says_what_it_looks_at() -> None:
    for name in LIVE.keys() - {BY_POLICY}:
        assert recipe(name).sensors.detectors


@pytest.mark.parametrize("name", ["kmaf", "kmaf14", "spcd"])
def test_a_recipe_begins_anew_when_other_cpus_are_allowed(name: str) -> None:
    allowed = [frozenset(OsIndex(cpu) for cpu in (0, 1))]
    policy, settings = RulePolicy((), {}, (), PACKED), Settings(bind="core")
    program = Program(LiveRecipe(name, machine(1), lambda: allowed[0], settings, policy=policy))
    program.settle()
    assert program.state.placed.allowed == allowed[0]
    first = program.state.recipe
    program.look()
    assert program.state.recipe is first
    allowed[0] = EVERY
    program.look()
    assert program.state.recipe is not first
    assert program.state.phase == "placed" and program.state.placed.allowed == EVERY
    placement = masks(program.look(pairs((1, 3, 50.0), (2, 4, 50.0))))
    assert frozenset().union(*placement.masks[1:]) == EVERY
