"""Enumeration, placing and leeway against their definitions by brute force."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from affinity_definition import (
    by_kind_and_number,
    core_by_core,
    first_of_cells,
    machines,
    slots_by_level,
    together,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_machine import machine

from autofinity.affinity.enumerate import count_affinities, enumerate_affinities, place
from autofinity.affinity.hints import all_hints
from autofinity.affinity.leeway import edit_distance
from autofinity.model.affinity import HINTS, Affinity
from autofinity.model.errors import PlacementError
from autofinity.model.topology import PU, OsIndex, Topology


def core_sets(
    topology: Topology, threads: int, available: frozenset[OsIndex]
) -> list[tuple[tuple[PU, ...], tuple[PU, ...]]]:
    """All sets of `threads` PUs that take whole SMT levels before a higher one: what is below the
    last level, and what is chosen on it.
    """
    below: tuple[PU, ...] = ()
    for level in slots_by_level(topology, available):
        rest = threads - len(below)
        if rest <= len(level):
            return [(below, chosen) for chosen in combinations(level, rest)]
        below += tuple(level)
    raise AssertionError("more threads than PUs")


def class_of(pus: tuple[PU, ...]) -> Affinity:
    sockets: dict[int, dict[int, int]] = {}
    for pu in pus:
        counts = sockets.setdefault(pu.package, {})
        counts[pu.llc] = counts.get(pu.llc, 0) + 1
    return Affinity.of([counts.values() for counts in sockets.values()])


def distance_of(topology: Topology, pus: tuple[PU, ...]) -> int:
    nodes = {pu.node for pu in pus}
    return sum(topology.distances[a][b] for a in nodes for b in nodes if a != b)


@settings(max_examples=120)
@given(machines(), st.data())
def test_every_feasible_class_is_listed_once_counted_and_placed_best(
    machine: tuple[Topology, frozenset[OsIndex]], data: st.DataObject
) -> None:
    topology, available = machine
    if not available:
        return
    threads = data.draw(st.integers(1, len(available)))
    best: dict[Affinity, tuple[int, list[tuple[int, int]]]] = {}
    for below, chosen in core_sets(topology, threads, available):
        key = (distance_of(topology, chosen), by_kind_and_number(below + chosen))
        affinity = class_of(below + chosen)
        best[affinity] = min(best.get(affinity, key), key)
    if together(topology, threads, available):
        order = core_by_core(topology, available)
        others: dict[Affinity, tuple[int, list[int], list[tuple[int, int]]]] = {}
        for pus in first_of_cells(order, threads):
            rank = distance_of(topology, pus), sorted(map(order.index, pus))
            affinity = class_of(pus)
            key_of_all = (*rank, by_kind_and_number(pus))
            others[affinity] = min(others.get(affinity, key_of_all), key_of_all)
        best = {a: (far, pus) for a, (far, _, pus) in others.items()} | best
    listed = list(enumerate_affinities(topology, threads, available))
    assert len(listed) == len(set(listed))
    assert set(listed) == set(best)
    assert count_affinities(topology, threads, available) == len(best)
    for affinity, (_, pus) in best.items():
        found = place(topology, affinity, available)
        assert by_kind_and_number(topology.by_os_index[cpu] for cpu in found.cpus) == pus
        assert found.affinity == affinity


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 6), st.data())
def test_a_best_match_has_the_best_keys_of_all_classes_on_larger_machines(
    packages: int, llcs: int, cores: int, data: st.DataObject
) -> None:
    total = packages * llcs * cores
    topology = machine(packages, 1, llcs, cores)
    threads = data.draw(st.integers(1, min(total, 20)))
    listed = list(enumerate_affinities(topology, threads))

    for hint, match in zip(HINTS, all_hints(topology, threads), strict=True):

        def keys(affinity: Affinity) -> tuple[int, int, int]:
            sockets = affinity.sockets * (-1 if hint.spread_sockets else 1)  # noqa: B023
            squares = sum(c * c for counts in affinity.occupancy for c in counts)
            squares *= 1 if hint.spread_llcs else -1  # noqa: B023
            third = sum(sum(counts) ** 2 for counts in affinity.occupancy)
            third *= 1 if hint.spread_sockets else -1  # noqa: B023
            first, second = (sockets, squares) if hint.socket_first else (squares, sockets)  # noqa: B023
            return first, second, third

        assert keys(match.affinity) == min(map(keys, listed))


def occupancy(domains: list[int]) -> list[list[int]]:
    """Threads in each of two LLCs of three sockets, given the domain of each thread."""
    return [[domains.count(2 * socket + llc) for llc in range(2)] for socket in range(3)]


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_edit_distance_is_the_best_over_all_matchings(
    domains: list[tuple[int, int]],
) -> None:
    a = occupancy([before for before, _ in domains])
    b = occupancy([after for _, after in domains])
    most_kept = max(
        sum(
            max(sum(map(min, zip(mine, swapped, strict=True))) for swapped in permutations(other))
            for mine, other in zip(a, order, strict=True)
        )
        for order in permutations(b)
    )
    assert edit_distance(Affinity.of(a), Affinity.of(b)) == len(domains) - most_kept


def test_a_class_without_room_is_an_error_that_says_what_there_is() -> None:
    pus = tuple(PU(OsIndex(i), 0, i, i // 2, i // 4, 0) for i in range(8))
    topology = Topology(
        "small", "synthetic", pus, (OsIndex(0),), ((10,),), frozenset(pu.os_index for pu in pus)
    )
    with pytest.raises(PlacementError, match=r"\{3\} does not fit on small.*\{2,2\}\{2,2\}"):
        place(topology, Affinity.parse("{3}"))
    with pytest.raises(PlacementError, match="9 threads on 8"):
        place(topology, Affinity.parse("{9}"))
