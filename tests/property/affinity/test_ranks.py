"""Ranks over a node: what holds on any machine, and what holds where its parts are alike."""

from __future__ import annotations

from collections import Counter

from affinity_definition import machines
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_machine import machine

from autofinity.affinity.hints import get_affinity
from autofinity.affinity.ranks import Rank, place_ranks, share_of
from autofinity.model.affinity import HINTS, Hint
from autofinity.model.topology import OsIndex, Topology

hints = st.sampled_from(HINTS)


@settings(max_examples=300)
@given(machines(), hints, st.data())
def test_places_are_disjoint_complete_and_the_same_again(
    drawn: tuple[Topology, frozenset[OsIndex]], hint: Hint, data: st.DataObject
) -> None:
    topology, available = drawn
    if not available:
        return
    ranks = data.draw(st.integers(1, len(available)))
    threads = data.draw(st.integers(1, len(available) // ranks))
    found = place_ranks(topology, ranks, threads, hint, available)
    cpus = [cpu for rank in found for cpu in rank.cores.cpus]
    assert len(found) == ranks
    assert all(len(rank.cores.cpus) == threads for rank in found)
    assert len(set(cpus)) == len(cpus) == ranks * threads
    assert available.issuperset(cpus)
    assert place_ranks(topology, ranks, threads, hint, available) == found


@settings(max_examples=300)
@given(machines(), hints, st.data())
def test_no_two_threads_are_on_a_core_while_there_is_a_core_for_each(
    drawn: tuple[Topology, frozenset[OsIndex]], hint: Hint, data: st.DataObject
) -> None:
    topology, available = drawn
    cores = {topology.by_os_index[cpu].core for cpu in available}
    if not cores:
        return
    ranks = data.draw(st.integers(1, len(cores)))
    threads = data.draw(st.integers(1, len(cores) // ranks))
    found = place_ranks(topology, ranks, threads, hint, available)
    used = [topology.by_os_index[cpu].core for rank in found for cpu in rank.cores.cpus]
    assert len(set(used)) == len(used)


@settings(max_examples=300)
@given(machines(), hints, st.data())
def test_a_rank_of_more_threads_than_its_cores_leaves_none_of_these_idle(
    drawn: tuple[Topology, frozenset[OsIndex]], hint: Hint, data: st.DataObject
) -> None:
    topology, available = drawn
    if not available:
        return
    threads = data.draw(st.integers(1, len(available)))
    (alone,) = place_ranks(topology, 1, threads, hint, available)
    used = Counter(topology.by_os_index[cpu].core for cpu in alone.cores.cpus)
    cores = {topology.by_os_index[cpu].core for cpu in available}
    assert max(used.values()) == 1 or used.keys() == cores


@st.composite
def alike(draw: st.DrawFn) -> tuple[Topology, int, int]:
    """A machine whose parts are alike, and ranks and threads that it has the cores for."""
    topology = machine(
        packages=draw(st.integers(1, 3)),
        nodes=draw(st.integers(1, 3)),
        llcs=draw(st.integers(1, 3)),
        cores=draw(st.integers(1, 4)),
        smt=draw(st.integers(1, 2)),
    )
    ranks = draw(st.integers(1, topology.n_cores))
    return topology, ranks, draw(st.integers(1, topology.n_cores // ranks))


@settings(max_examples=300)
@given(alike(), hints)
def test_ranks_are_spread_evenly_over_nodes_that_have_the_cores(
    drawn: tuple[Topology, int, int], hint: Hint
) -> None:
    topology, ranks, threads = drawn
    most = -(-ranks // topology.n_nodes)
    if most * threads > topology.n_cores // topology.n_nodes:
        return  # some rank needs cores of two nodes
    held = Counter[int]()
    for rank in place_ranks(topology, ranks, threads, hint):
        held.update({topology.by_os_index[cpu].node for cpu in rank.cores.cpus})
    counts = [held[node] for node in range(topology.n_nodes)]
    if ranks < topology.n_nodes:
        assert max(counts) == 1
    else:
        assert max(counts) - min(counts) <= 1
        per_package = topology.n_nodes // topology.n_packages
        packages = [sum(counts[at : at + per_package]) for at in range(0, len(counts), per_package)]
        assert max(packages) - min(packages) <= 1


@settings(max_examples=300)
@given(alike(), hints)
def test_no_two_ranks_share_a_cache_while_there_are_enough(
    drawn: tuple[Topology, int, int], hint: Hint
) -> None:
    topology, ranks, threads = drawn
    per_cache = topology.n_cores // topology.n_llcs
    per_node = topology.n_llcs // topology.n_nodes
    each = -(-threads // per_cache)  # caches that a rank needs
    if -(-ranks // topology.n_nodes) * each > per_node:
        return
    held = Counter[int]()
    for rank in place_ranks(topology, ranks, threads, hint):
        held.update({topology.by_os_index[cpu].llc for cpu in rank.cores.cpus})
    assert max(held.values()) == 1


@settings(max_examples=200)
@given(alike(), hints)
def test_a_rank_is_the_best_match_of_its_hint_in_its_block(
    drawn: tuple[Topology, int, int], hint: Hint
) -> None:
    topology, ranks, threads = drawn
    if ranks != topology.n_nodes or threads > topology.n_cores // topology.n_nodes:
        return
    for node, rank in enumerate(place_ranks(topology, ranks, threads, hint)):
        first = frozenset(
            pu.os_index for pu in topology.pus if pu.node == node and pu.smt_rank == 0
        )
        assert rank == Rank(
            get_affinity(topology, threads, hint, first), (topology.node_os_indices[node],)
        )


@settings(max_examples=300)
@given(machines(), st.data())
def test_shares_are_disjoint_whole_cores_of_an_even_number_or_more(
    drawn: tuple[Topology, frozenset[OsIndex]], data: st.DataObject
) -> None:
    topology, available = drawn
    cores = {topology.by_os_index[cpu].core for cpu in available}
    if not cores:
        return
    ranks = data.draw(st.integers(1, len(cores)))
    shares = [share_of(topology, ranks, rank, available) for rank in range(ranks)]
    held = [{topology.by_os_index[cpu].core for cpu in share} for share in shares]
    assert min(map(len, held)) >= len(cores) // ranks
    assert len(set().union(*held)) == sum(map(len, held))
    for share, core in zip(shares, held, strict=True):
        whole = {pu.os_index for pu in topology.pus if pu.core in core}
        assert share == whole & available


@settings(max_examples=200)
@given(alike())
def test_shares_of_nodes_that_divide_evenly_are_equal(drawn: tuple[Topology, int, int]) -> None:
    topology, ranks, _ = drawn
    sizes = {len(share_of(topology, ranks, rank)) for rank in range(ranks)}
    smt = len(topology.pus) // topology.n_cores
    if topology.n_llcs % ranks == 0 or topology.n_cores % ranks == 0:
        assert sizes == {topology.n_cores // ranks * smt}
