"""The mappers on the examples of Cruz, Diener & Navaux (CCPE 2014)."""

from __future__ import annotations

from itertools import combinations

import pytest
from made_up_machine import machine
from mappers_here import mappers_but

from autofinity.mapping.cost import distance
from autofinity.mapping.edmonds import matched_groups
from autofinity.mapping.level import internal, sums_between
from autofinity.mapping.mappers import MAPPERS
from autofinity.mapping.matching import best_pairs, best_partners
from autofinity.mapping.treematch import least_outside
from autofinity.model.sharing import SharingMatrix


def weights(size: int, pairs: dict[tuple[int, int], float]) -> list[list[float]]:
    cells = [[0.0] * size for _ in range(size)]
    for (a, b), amount in pairs.items():
        cells[a][b] = cells[b][a] = amount
    return cells


FIGURE_4 = weights(4, {(1, 2): 1, (0, 1): 2, (0, 3): 1, (1, 3): 1})


def test_figure_4_is_matched_for_the_most_communication() -> None:
    pairs = matched_groups(FIGURE_4, range(4), 2, 2)
    assert sum(internal(FIGURE_4, pair) for pair in pairs) == 2
    # (0,3) and (1,2) communicate as much: the nearest numbers are taken, every time.
    assert sorted(pairs) == [[0, 1], [2, 3]]


def test_tlb_section_5_2_equation_9_adds_what_the_members_of_two_matches_communicate() -> None:
    m = weights(4, {(0, 2): 1, (0, 3): 10, (1, 2): 100, (1, 3): 1000, (0, 1): 7, (2, 3): 7})
    assert sums_between(m, [[0, 1]], [[2, 3]]) == [[1111]]
    assert sums_between(m, [[0], [1, 2]], [[3], [0, 3]]) == [[10, 10], [1007, 1015]]


def test_tlb_section_5_2_figure_7_matches_pairs_and_then_pairs_of_pairs() -> None:
    m = weights(8, {(0, 4): 9, (1, 5): 9, (2, 6): 9, (3, 7): 9, (0, 3): 4, (1, 2): 4, (5, 6): 1})
    assert best_pairs(m) == [(0, 4), (1, 5), (2, 6), (3, 7)]
    fours = matched_groups(m, range(8), 2, 4)
    assert sorted(map(sorted, fours)) == [[0, 3, 4, 7], [1, 2, 5, 6]]


def test_tlb_section_5_2_figure_8_keeps_the_best_pairs_and_matches_the_rest_to_them() -> None:
    # Among the pairs (0,1), (2,3), (4,5) the last one communicates least and is taken apart.
    m = weights(6, {(0, 1): 9, (2, 3): 8, (4, 5): 3, (3, 4): 2, (0, 4): 1, (1, 5): 1})
    assert sorted(map(sorted, matched_groups(m, range(6), 2, 3))) == [[0, 1, 5], [2, 3, 4]]


def test_figure_8_matches_what_communicates_alike_by_the_nearest_numbers() -> None:
    assert best_partners([[1.0] * 4] * 4) == [0, 1, 2, 3]
    assert best_partners([[0.0] * 5] * 3) == [0, 1, 2]
    alike = weights(12, dict.fromkeys(combinations(range(12), 2), 1))
    assert sorted(map(sorted, matched_groups(alike, range(12), 2, 6))) == [
        [0, 1, 2, 3, 8, 9],
        [4, 5, 6, 7, 10, 11],
    ]


@pytest.mark.parametrize(("groups", "size"), [(2, 6), (3, 5), (1, 7), (4, 1), (2, 2)])
def test_groups_of_any_size_are_made_of_any_number(groups: int, size: int) -> None:
    threads = groups * size + 1
    m = weights(threads, {(i, j): (i * j) % 7 for i, j in combinations(range(threads), 2)})
    for make in (matched_groups, least_outside):
        made = make(m, range(threads), groups, size)
        assert [len(group) for group in made] == [size] * groups
        assert len({thread for group in made for thread in group}) == groups * size


def test_matchings_are_exact() -> None:
    # Greedy would take (1,2) for 10 and then (0,3) for 0.
    assert best_pairs(weights(4, {(1, 2): 10, (0, 1): 9, (2, 3): 9})) == [(0, 1), (2, 3)]
    assert best_partners([[10, 9, 0], [9, 0, 1]]) == [1, 0]


def test_large_groups_are_put_together_from_factors_and_one_more() -> None:
    threads = 22
    chains = weights(threads, {(i, i + 1): 1 for i in range(threads - 1) if i != 10})
    halves = least_outside(chains, range(threads), 2, 11)
    assert sorted(sorted(half) for half in halves)[0][0] == 0
    assert sum(internal(chains, half) for half in halves) >= 15


@pytest.mark.parametrize("apart", [1, 16], ids=["figure 9a", "figure 9b"])
@pytest.mark.parametrize("name", mappers_but("exact", "compact", "scatter", "random"))
def test_producers_sit_beside_their_consumers_in_both_phases(name: str, apart: int) -> None:
    pairs = {(i, i + apart): 5.0 for i in range(32) if i // apart % 2 == 0}
    topology = machine(packages=2, cores=8, smt=2, number=lambda core, rank: core + 16 * rank)
    sharing = SharingMatrix(tuple(map(tuple, weights(32, pairs))))
    cpus = MAPPERS[name].run(sharing, topology, topology.allowed)
    assert {distance(topology, cpus[a], cpus[b]) for a, b in pairs} == {1}
