"""All mappers on one task, SCOTCH where it is installed, and the picture of a mapping."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest
from made_up_machine import machine as regular
from mappers_here import WHY_NO_SCOTCH

from autofinity.mapping import scotch as scotch_mapper
from autofinity.mapping.compare import compared, mapped
from autofinity.mapping.cost import cost
from autofinity.mapping.mappers import MAPPERS
from autofinity.mapping.scotch import scotch
from autofinity.model.errors import CapabilityError, UsageError
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.report.picture import draw


def ring(threads: int) -> SharingMatrix:
    """Thread i shares with i ± 7, so that neighbours in number share nothing."""
    return SharingMatrix(
        tuple(
            tuple(float((i - j) % threads in {7, threads - 7}) for j in range(threads))
            for i in range(threads)
        )
    )


def machine(cores: int, sockets: int = 4) -> Topology:
    return regular(sockets, cores=cores // sockets, far=20)


def test_comparing_leaves_out_what_is_slow_and_what_cannot() -> None:
    found = {m.name: m for m in compared(ring(20), machine(20), machine(20).allowed)}
    assert list(found) == list(MAPPERS)
    assert "more than 12 threads" in found["exact"].reason
    assert found["refined"].cost == min(m.cost for m in found.values() if not m.reason)
    # A ring of 20 on 4 sockets: 4 of its 20 edges leave a socket.
    assert found["refined"].cost == 16 * 4 + 4 * 20


def at_random(threads: int, seed: int) -> SharingMatrix:
    draw = random.Random(seed)
    cells = [[0.0] * threads for _ in range(threads)]
    for i, j in combinations(range(threads), 2):
        cells[i][j] = cells[j][i] = draw.random()
    return SharingMatrix(tuple(map(tuple, cells)))


@pytest.mark.parametrize("threads", [6, 8, 10, 12])
def test_refined_is_as_cheap_as_the_cheapest_mapping_of_few_threads(threads: int) -> None:
    topology = machine(24)
    sharings = [ring(threads + 3), *(at_random(threads, seed) for seed in range(5))]
    for sharing in sharings:
        costs = [
            mapped(name, sharing, topology, topology.allowed).cost for name in ("refined", "exact")
        ]
        assert costs[0] == pytest.approx(costs[1], rel=1e-9)


@pytest.mark.parametrize("threads", [48, 96, 256])
def test_refined_cuts_a_ring_of_many_threads_where_the_sockets_end(threads: int) -> None:
    topology = machine(threads)
    found = mapped("refined", ring(threads), topology, topology.allowed)
    assert found.cost == (threads - 4) * 4 + 4 * 20


def test_exact_refuses_what_it_cannot_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="40 threads are too many"):
        mapped("exact", ring(40), machine(40), machine(40).allowed)
    monkeypatch.setattr("autofinity.mapping.exact.MOST_STEPS", 3)
    with pytest.raises(UsageError, match="3 steps did not find"):
        mapped("exact", ring(16), machine(16), machine(16).allowed)


def test_a_missing_scotch_library_is_said_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scotch_mapper, "_NAMES", ("no-such-{}.so",))
    scotch_mapper._library.cache_clear()
    try:
        with pytest.raises(CapabilityError, match=r"libscotch-7\.0; bisection does the same"):
            scotch(ring(16), machine(16), machine(16).allowed)
    finally:
        scotch_mapper._library.cache_clear()


needs_scotch = pytest.mark.skipif(WHY_NO_SCOTCH is not None, reason=WHY_NO_SCOTCH or "")


@needs_scotch
def test_scotch_cuts_a_ring_into_arcs() -> None:
    topology = machine(32)
    cpus = scotch(ring(32), topology, topology.allowed)
    assert cost(ring(32), topology, cpus) == 28 * 4 + 4 * 20


@needs_scotch
def test_large_amounts_do_not_overflow_scotch() -> None:
    sharing = SharingMatrix(tuple(tuple(c * 1e15 for c in row) for row in ring(32).cells))
    topology = machine(32)
    assert cost(sharing, topology, scotch(sharing, topology, topology.allowed)) == 192e15


def test_several_threads_of_a_cpu_are_drawn_together() -> None:
    cpus = [OsIndex(0), OsIndex(1), OsIndex(0), OsIndex(0)]
    assert "0+2+3" in draw(machine(4), 80, cpus).plain


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_picture_of_a_mapping_is_the_same_every_time(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    from autofinity.report.mapping_image import save_mapping

    topology = machine(16)
    made = mapped("eagermap", ring(16), topology, topology.allowed)
    pictures = [tmp_path / f"{i}{suffix}" for i in range(2)]
    for picture in pictures:
        save_mapping(ring(16), topology, made, picture)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
