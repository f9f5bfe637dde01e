"""Numbers of the Opteron 6164 HE (4 sockets × 2 LLCs × 6 cores) that the design fixes."""

from __future__ import annotations

import pytest

from autofinity.affinity.enumerate import count_affinities, enumerate_affinities
from autofinity.affinity.hints import all_hints
from autofinity.affinity.leeway import hints_within
from autofinity.model.topology import Topology
from autofinity.sim.preset import load_preset


@pytest.fixture(scope="module")
def opteron() -> Topology:
    return load_preset("opteron-6164he").topology


@pytest.mark.parametrize(("threads", "count"), [(4, 11), (8, 80), (16, 912), (24, 1979), (48, 1)])
def test_the_opteron_has_so_many_affinities(opteron: Topology, threads: int, count: int) -> None:
    found = list(enumerate_affinities(opteron, threads))
    assert len(found) == len(set(found)) == count
    assert count_affinities(opteron, threads) == count
    assert all(affinity.threads == threads for affinity in found)


@pytest.mark.parametrize(("leeway", "count"), [(0, 5), (1, 22), (2, 56), (3, 78)])
def test_eight_threads_have_so_many_destinations(
    opteron: Topology, leeway: int, count: int
) -> None:
    best = [match.affinity for match in all_hints(opteron, 8)]
    found = [a for a in enumerate_affinities(opteron, 8) if hints_within(a, best, leeway)]
    assert len(found) == count


def test_best_matches_sit_on_the_nearest_nodes_of_the_real_distances(opteron: Topology) -> None:
    chosen = {str(match.hint): match.cpus for match in all_hints(opteron, 8)}
    assert chosen["SLP"] == (0, 6, 12, 18, 24, 30, 36, 42)
    assert chosen["SlP"] == (0, 1, 2, 3, 4, 12, 24, 36)
    assert chosen["Slp"] == (0, 1, 2, 3, 4, 5, 12, 13)
    assert chosen["sLP"] == (0, 1, 2, 3, 6, 7, 8, 9)
    assert chosen["slp"] == (0, 1, 2, 3, 4, 5, 6, 7)
