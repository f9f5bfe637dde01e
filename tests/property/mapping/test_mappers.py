"""Properties of every mapper, on any machine and any sharing."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations

import pytest
from affinity_definition import machines
from hypothesis import given, settings
from hypothesis import strategies as st
from mappers_here import MAPPERS_HERE, mappers_but

from autofinity.mapping.cost import cost
from autofinity.mapping.exact import exact
from autofinity.mapping.mappers import MAPPERS
from autofinity.mapping.seats import seats
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import Cache, OsIndex, Topology


@st.composite
def sharings(draw: st.DrawFn, most: int, least: int = 1) -> SharingMatrix:
    threads = draw(st.integers(least, most))
    amounts = st.integers(0, 9)
    cells = [[0.0] * threads for _ in range(threads)]
    for i in range(threads):
        for j in range(i):
            cells[i][j] = cells[j][i] = float(draw(amounts))
    return SharingMatrix(tuple(map(tuple, cells)))


@st.composite
def tasks(draw: st.DrawFn, most_threads: int) -> tuple[SharingMatrix, Topology, frozenset[OsIndex]]:
    """Threads that share, a machine whose cores may share L2s, and some of its PUs."""
    topology, available = draw(machines().filter(lambda machine: machine[1]))
    width = draw(st.integers(1, 3))
    topology = replace(topology, caches=(Cache(2, 1 << 18, 64, 8, width),))
    return draw(sharings(most_threads)), topology, available


@settings(max_examples=30)
@given(tasks(14))
@pytest.mark.parametrize("name", mappers_but("exact", "compact"))
def test_every_seat_is_taken_once_and_the_same_way_every_time(
    name: str, task: tuple[SharingMatrix, Topology, frozenset[OsIndex]]
) -> None:
    sharing, topology, available = task
    found = MAPPERS[name].run(sharing, topology, available)
    assert sorted(found) == sorted(seats(topology, sharing.threads, available))
    assert found == MAPPERS[name].run(sharing, replace(topology), available)


@settings(max_examples=30)
@given(tasks(14))
def test_refined_never_costs_more_than_what_it_begins_with(
    task: tuple[SharingMatrix, Topology, frozenset[OsIndex]],
) -> None:
    costs = {
        name: cost(task[0], task[1], MAPPERS[name].run(*task))
        for name in ("refined", "eagermap", "bisection")
    }
    assert costs["refined"] <= min(costs.values())


@settings(max_examples=40)
@given(tasks(14))
def test_no_exchange_of_two_threads_makes_a_refined_mapping_cheaper(
    task: tuple[SharingMatrix, Topology, frozenset[OsIndex]],
) -> None:
    sharing, topology, _ = task
    found = list(MAPPERS["refined"].run(*task))
    least = cost(sharing, topology, found)
    for i, j in combinations(range(sharing.threads), 2):
        found[i], found[j] = found[j], found[i]
        assert cost(sharing, topology, found) >= least * (1 - 1e-9)
        found[i], found[j] = found[j], found[i]


@settings(max_examples=40)
@given(tasks(5))
def test_exact_is_the_cheapest_of_all_mappings(
    task: tuple[SharingMatrix, Topology, frozenset[OsIndex]],
) -> None:
    sharing, topology, available = task
    chosen = seats(topology, sharing.threads, available)
    cheapest = min(cost(sharing, topology, order) for order in permutations(chosen))
    assert cost(sharing, topology, exact(*task)) == pytest.approx(cheapest)


@settings(max_examples=30)
@given(tasks(6))
def test_no_mapper_is_cheaper_than_exact_on_the_same_cpus(
    task: tuple[SharingMatrix, Topology, frozenset[OsIndex]],
) -> None:
    sharing, topology, available = task
    used = frozenset(seats(topology, sharing.threads, available))
    least = cost(sharing, topology, exact(sharing, topology, used))
    for mapper in MAPPERS_HERE.values():
        found = cost(sharing, topology, mapper.run(sharing, topology, used))
        assert found >= least * (1 - 1e-9)


@settings(max_examples=30)
@given(tasks(10), st.randoms(use_true_random=False))
def test_cost_does_not_depend_on_the_numbers_of_threads(
    task: tuple[SharingMatrix, Topology, frozenset[OsIndex]], random: object
) -> None:
    sharing, topology, available = task
    cpus = seats(topology, sharing.threads, available)
    order = list(range(sharing.threads))
    random.shuffle(order)  # type: ignore[attr-defined]
    renumbered = SharingMatrix(tuple(tuple(sharing.cells[i][j] for j in order) for i in order))
    before = cost(sharing, topology, cpus)
    assert cost(renumbered, topology, [cpus[i] for i in order]) == pytest.approx(before)


@settings(max_examples=30)
@given(tasks(10))
def test_as_many_threads_as_cpus_are_one_on_each(
    task: tuple[SharingMatrix, Topology, frozenset[OsIndex]],
) -> None:
    sharing, topology, available = task
    if sharing.threads <= len(available):
        few = frozenset(sorted(available)[: sharing.threads])
        for mapper in MAPPERS_HERE.values():
            assert set(mapper.run(sharing, topology, few)) == few
