"""Seats, distances, costs and EagerMap on machines whose answers are known."""

from __future__ import annotations

import subprocess
import sys

import pytest
from made_up_machine import cpus, machine

from autofinity.mapping.cost import cost, distance
from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.seats import seats
from autofinity.mapping.static import at_random, compact, scatter
from autofinity.model.errors import PlacementError
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import PU, Cache, OsIndex, Topology


def matrix(threads: int, pairs: dict[tuple[int, int], float]) -> SharingMatrix:
    cells = [[0.0] * threads for _ in range(threads)]
    for (a, b), amount in pairs.items():
        cells[a][b] = cells[b][a] = amount
    return SharingMatrix(tuple(map(tuple, cells)))


def test_distance_grows_with_the_part_two_cpus_share() -> None:
    topology = machine(2, 2, 2, 4, 2, caches=(Cache(2, 1 << 18, 64, 8, 2),))
    found = [distance(topology, OsIndex(0), OsIndex(cpu)) for cpu in (0, 1, 2, 4, 8, 16, 32)]
    assert found == [0, 1, 2, 4, 10, 16, 22]


def test_a_node_that_spans_sockets_does_not_make_them_near() -> None:
    one_node = machine(packages=2, cores=2)
    pus = tuple(PU(p.os_index, 0, p.core, p.llc, p.package, 0) for p in one_node.pus)
    topology = Topology("bus", "synthetic", pus, (OsIndex(0),), ((10,),), one_node.allowed)
    assert distance(topology, OsIndex(0), OsIndex(2)) == 20


def test_as_many_threads_as_cpus_take_all_of_them() -> None:
    topology = machine(packages=2, cores=2)
    assert seats(topology, 3, cpus(3, 0, 2)) == [0, 2, 3]


def test_fewer_threads_are_spread_evenly_and_take_cores_before_second_pus() -> None:
    topology = machine(packages=2, cores=2, smt=2)
    assert seats(topology, 4, topology.allowed) == [0, 2, 4, 6]


def test_more_threads_than_cpus_take_each_cpu_before_any_again() -> None:
    topology = machine(packages=2, cores=2)
    assert seats(topology, 6, topology.allowed) == [0, 0, 1, 2, 2, 3]


@pytest.mark.parametrize("available", [cpus(), cpus(0, 99)])
def test_a_set_that_cannot_be_mapped_to_is_an_error(available: frozenset[OsIndex]) -> None:
    with pytest.raises(PlacementError, match=r"0 CPUs|CPU 99 is not on"):
        eagermap(matrix(2, {}), machine(), available)


def test_no_threads_are_an_error_of_every_mapper() -> None:
    for mapper in (eagermap, compact, scatter, at_random):
        with pytest.raises(PlacementError, match="cannot map 0 threads"):
            mapper(SharingMatrix(()), machine(), machine().allowed)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (((0.0, 1.0), (2.0, 0.0)), "symmetric"),
        (((1.0, 0.0), (0.0, 0.0)), "diagonal"),
        (((0.0, -1.0), (-1.0, 0.0)), "from 0 to"),
        (((0.0, float("nan")), (float("nan"), 0.0)), "from 0 to"),
        (((0.0, 1e300), (1e300, 0.0)), "from 0 to"),
        (((0.0, 1.0), (1.0,)), "columns"),
    ],
)
def test_what_is_no_sharing_matrix_is_refused(
    cells: tuple[tuple[float, ...], ...], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        eagermap(SharingMatrix(cells), machine(), machine().allowed)


def test_cost_counts_each_pair_once() -> None:
    sharing = matrix(3, {(0, 1): 3, (0, 2): 0.5})
    topology = machine(packages=2, cores=2)
    assert cost(sharing, topology, [OsIndex(0), OsIndex(1), OsIndex(2)]) == 3 * 4 + 0.5 * 22


def test_eagermap_seats_pairs_that_share_beside_each_other() -> None:
    topology = machine(packages=2, nodes=2, cores=1, smt=2)
    sharing = matrix(8, {(i, i + 4): 1 for i in range(4)})
    assert eagermap(sharing, topology, topology.allowed) == (0, 2, 4, 6, 1, 3, 5, 7)


def test_eagermap_fills_the_larger_of_unequal_parts_first() -> None:
    sharing = matrix(6, {(0, 1): 5, (0, 2): 4, (1, 3): 4, (4, 5): 5})
    found = eagermap(sharing, machine(packages=2, cores=4), cpus(0, 1, 4, 5, 6, 7))
    assert found == (4, 5, 6, 7, 0, 1)


def test_eagermap_of_threads_that_share_nothing_keeps_their_order() -> None:
    topology = machine(packages=2, cores=4, smt=2)
    assert eagermap(matrix(16, {}), topology, topology.allowed) == tuple(range(16))


def test_eagermap_puts_sharing_threads_on_one_cpu_where_there_are_too_few() -> None:
    sharing = matrix(4, {(0, 3): 1, (1, 2): 1})
    assert eagermap(sharing, machine(cores=2), cpus(0, 1)) == (0, 1, 1, 0)


def test_compact_fills_cores_and_scatter_deals_over_sockets() -> None:
    topology = machine(packages=2, nodes=2, cores=2, smt=2)
    nothing = matrix(4, {})
    assert compact(nothing, topology, topology.allowed) == (0, 1, 2, 3)
    assert scatter(nothing, topology, topology.allowed) == (0, 8, 4, 12)


def test_random_mappings_repeat_with_their_seed() -> None:
    topology = machine(packages=2, cores=8)
    first = at_random(matrix(16, {}), topology, topology.allowed, seed=1)
    assert first == at_random(matrix(16, {}), topology, topology.allowed, seed=1)
    assert first != at_random(matrix(16, {}), topology, topology.allowed, seed=2)


def test_eagermap_lives_without_numpy() -> None:
    program = "import sys, autofinity.mapping.eagermap; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
