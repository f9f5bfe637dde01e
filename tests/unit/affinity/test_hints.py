"""Best matches, ties and errors of GETAFFINITY on machines whose answers are known."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

import pytest
from made_up_machine import machine

from autofinity.affinity.enumerate import place
from autofinity.affinity.hints import all_hints, get_affinity
from autofinity.affinity.leeway import edit_distance, hints_within
from autofinity.model.affinity import HINTS, PACKED, Affinity, Hint
from autofinity.model.errors import PlacementError, UsageError
from autofinity.model.topology import OsIndex, Topology
from autofinity.sim.preset import load_preset

OPTERON = machine(4, 2, 1, 6)


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        ("SLP", "{1,1}{1,1}{1,1}{1,1}"),
        ("SLp", "{1,1}{1,1}{1,1}{1,1}"),
        ("SlP", "{5}{1}{1}{1}"),
        ("Slp", "{6}{2}"),
        ("sLP", "{4,4}"),
        ("sLp", "{1,1}{1,1}{1,1}{1,1}"),
        ("slP", "{6,2}"),
        ("slp", "{6,2}"),
    ],
)
def test_best_matches_of_eight_threads_on_the_opteron(hint: str, expected: str) -> None:
    assert str(get_affinity(OPTERON, 8, Hint.parse(hint)).affinity) == expected


def test_packed_sixteen_threads_fill_one_socket_before_the_next() -> None:
    assert str(get_affinity(OPTERON, 16, Hint.parse("slp")).affinity) == "{6,6}{4}"


def test_threads_fill_the_set_domain_by_domain() -> None:
    found = get_affinity(OPTERON, 8, Hint.parse("sLP"))
    assert found.cpus == (0, 1, 2, 3, 6, 7, 8, 9)
    assert found.occupancy == ((4, 4), (0, 0), (0, 0), (0, 0))


def test_of_equal_sets_the_one_on_near_nodes_is_chosen() -> None:
    near = 22, 12, 22  # distances of nodes 0-1, 0-2, 1-2 of three sockets of one node
    slit = ((10, near[0], near[1]), (near[0], 10, near[2]), (near[1], near[2], 10))
    flat = machine(3, 1, 1, 2)
    three = Topology(flat.name, flat.origin, flat.pus, flat.node_os_indices, slit, flat.allowed)
    assert get_affinity(three, 4, Hint.parse("slp")).cpus == (0, 1, 4, 5)


def test_unavailable_cores_are_never_chosen() -> None:
    available = frozenset(map(OsIndex, (3, 4, 5, 30, 31)))
    for match in all_hints(OPTERON, 5, available):
        assert set(match.cpus) == available
    assert get_affinity(OPTERON, 2, Hint.parse("slp"), available).cpus == (3, 4)


def test_who_spreads_takes_all_first_pus_before_a_second_one() -> None:
    smt = machine(2, 1, 1, 4, smt=2)
    first = {pu.os_index for pu in smt.pus if pu.smt_rank == 0}
    for threads in range(1, 17):
        for match in all_hints(smt, threads):
            assert match.hint is not None
            if threads < 8 or match.hint in SPREADING:
                assert len(first & set(match.cpus)) == min(threads, 8)
    assert str(get_affinity(smt, 10, Hint.parse("SLP")).affinity) == "{5}{5}"


SPREADING = tuple(map(Hint.parse, ("SLP", "SlP", "SLp", "sLp")))
"""Hints whose first wish is to spread."""


@pytest.mark.parametrize("threads", [192, 193, 256, 300])
def test_who_packs_all_cores_uses_siblings_and_leaves_caches_empty(threads: int) -> None:
    epyc = load_preset("epyc-9654").topology  # 2 sockets × 12 caches × 8 cores × 2
    for match in all_hints(epyc, threads):
        assert match.hint is not None
        cores = {epyc.by_os_index[cpu].core for cpu in match.cpus}
        caches = {epyc.by_os_index[cpu].llc for cpu in match.cpus}
        if match.hint in SPREADING:
            assert (len(cores), len(caches)) == (192, 24)
        else:
            assert len(cores) < 192
        if match.hint in (PACKED, Hint.parse("slP"), Hint.parse("Slp")):
            assert len(caches) == -(-threads // 16)  # each full


def test_with_all_cores_the_hints_of_an_epyc_are_told_apart() -> None:
    epyc = load_preset("epyc-9654").topology
    found = {str(match.hint): str(match.affinity) for match in all_hints(epyc, 192)}
    eights, sixteens, half = ",".join(["8"] * 12), ",".join(["16"] * 12), ",".join(["16"] * 6)
    assert found["SLP"] == f"{{{eights}}}{{{eights}}}"
    assert found["slp"] == found["slP"] == found["sLP"] == f"{{{sixteens}}}"
    assert found["Slp"] == f"{{{half}}}{{{half}}}"
    for match in all_hints(epyc, 192):
        assert sorted(place(epyc, match.affinity).cpus) == sorted(match.cpus)


def test_on_a_part_of_a_machine_as_many_threads_as_cores_have_a_core_each() -> None:
    epyc = load_preset("epyc-9654").topology
    part = frozenset(pu.os_index for pu in epyc.pus if pu.core < 16)
    for match in all_hints(epyc, 16, part):
        assert len({epyc.by_os_index[cpu].core for cpu in match.cpus}) == 16
    assert str(get_affinity(epyc, 17, PACKED, part).affinity) == "{16,1}"


def test_without_siblings_all_cores_are_the_same_to_every_hint() -> None:
    assert len({match.affinity for match in all_hints(OPTERON, 48)}) == 1


def test_siblings_of_several_kinds_of_cores_come_last_whatever_the_hint() -> None:
    hybrid = load_preset("i9-13900k").topology  # 8 cores with siblings, 16 without
    for match in all_hints(hybrid, 24):
        assert len({hybrid.by_os_index[cpu].core for cpu in match.cpus}) == 24


@pytest.mark.parametrize("threads", [49, 0, -1])
def test_a_count_that_cannot_be_placed_is_an_error_with_both_numbers(threads: int) -> None:
    with pytest.raises(PlacementError, match=rf"{threads} threads.* 48"):
        get_affinity(OPTERON, threads, HINTS[0])


def test_one_cpu_is_not_called_several() -> None:
    with pytest.raises(PlacementError, match="2 threads on 1 available CPU on"):
        get_affinity(OPTERON, 2, PACKED, frozenset({OsIndex(0)}))


def test_an_empty_set_is_an_error_with_both_numbers() -> None:
    with pytest.raises(PlacementError, match="3 threads: 0 CPUs"):
        get_affinity(OPTERON, 3, HINTS[0], frozenset())


def test_a_cpu_that_the_machine_does_not_have_is_named() -> None:
    with pytest.raises(PlacementError, match="CPU 99 is not"):
        get_affinity(OPTERON, 1, HINTS[0], frozenset({OsIndex(99)}))


def test_a_topology_that_was_asked_can_still_be_pickled() -> None:
    before = get_affinity(OPTERON, 8, HINTS[3])
    again: Topology = pickle.loads(pickle.dumps(OPTERON))
    assert again == OPTERON
    assert get_affinity(again, 8, HINTS[3]) == before


def test_numbers_and_sockets_beyond_one_machine_word_are_placed() -> None:
    big = machine(40, 1, 4, 8)
    for match in all_hints(big, 700):
        assert len(set(match.cpus)) == 700
    assert get_affinity(big, 700, Hint.parse("SLP")).affinity.sockets == 40
    assert get_affinity(big, 700, Hint.parse("slP")).affinity.sockets == 22


def test_the_distance_of_an_affinity_to_itself_is_zero() -> None:
    affinity = Affinity.parse("{6,2}{3}{1,1}")
    assert edit_distance(affinity, affinity) == 0


def test_moving_one_thread_is_distance_one() -> None:
    assert edit_distance(Affinity.parse("{6}"), Affinity.parse("{5}{1}")) == 1
    assert edit_distance(Affinity.parse("{4,2}"), Affinity.parse("{4}{2}")) == 2


def test_affinities_of_different_counts_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="6 and 4"):
        edit_distance(Affinity.parse("{6}"), Affinity.parse("{4}"))


def test_an_affinity_may_belong_to_several_hints_or_none() -> None:
    best = [match.affinity for match in all_hints(OPTERON, 8)]
    assert hints_within(Affinity.parse("{6,2}"), best, leeway=0) == (
        Hint.parse("slP"),
        Hint.parse("slp"),
    )
    assert hints_within(Affinity.parse("{4}{4}"), best, leeway=1) == ()


def test_above_sixteen_nodes_threads_still_sit_on_near_nodes() -> None:
    flat = machine(24, 1, 1, 2)
    # A ring of sockets whose neighbours are five apart in number.
    place = {(5 * i) % 24: i for i in range(24)}

    def distance(a: int, b: int) -> int:
        steps = abs(place[a] - place[b])
        return 10 + min(steps, 24 - steps)

    slit = tuple(tuple(distance(a, b) for b in range(24)) for a in range(24))
    ring = Topology(flat.name, flat.origin, flat.pus, flat.node_os_indices, slit, flat.allowed)
    nodes = {pu.os_index: pu.node for pu in ring.pus}
    found = get_affinity(ring, 6, Hint.parse("slp"))
    assert str(found.affinity) == "{2}{2}{2}"
    # Node 0, then its neighbour of the smaller number, then the nearest to both.
    assert {nodes[cpu] for cpu in found.cpus} == {0, 5, 10}
    spread = get_affinity(ring, 24, Hint.parse("SLP"))
    assert {nodes[cpu] for cpu in spread.cpus} == set(range(24))


def hybrid(*kinds: int, llcs: int = 1) -> Topology:
    """A core of each kind, larger is faster; as many in each LLC domain."""
    plain = machine(llcs=llcs, cores=len(kinds) // llcs)
    pus = tuple(replace(pu, efficiency=kinds[pu.core]) for pu in plain.pus)
    return replace(plain, pus=pus)


@pytest.mark.parametrize("hint", HINTS)
def test_the_faster_kind_of_cores_comes_first_whatever_the_hint(hint: Hint) -> None:
    for kinds, llcs in (((0, 0, 1, 1), 1), ((0, 0, 1, 1), 2), ((2, 0, 1, 1, 0, 2), 2)):
        topology = hybrid(*kinds, llcs=llcs)
        for threads in range(1, len(kinds) + 1):
            found = get_affinity(topology, threads, hint).cpus
            taken = sorted((kinds[cpu] for cpu in found), reverse=True)
            assert taken == sorted(kinds, reverse=True)[:threads]
    assert get_affinity(hybrid(0, 0, 1, 1), 3, hint).cpus == (2, 3, 0)  # the first thread, too


def test_slow_cores_come_before_second_threads_of_fast_ones() -> None:
    plain = machine(cores=4, smt=2)
    fast = {2, 3}
    topology = replace(
        plain, pus=tuple(replace(pu, efficiency=int(pu.core in fast)) for pu in plain.pus)
    )
    order = [set(get_affinity(topology, n, HINTS[-1]).cpus) for n in range(1, 9)]
    assert [min(now - before) for before, now in pairwise([set(), *order])] == [
        *(4, 6, 0, 2),
        *(5, 7, 1, 3),
    ]


def test_slow_cores_are_taken_where_only_they_may_be() -> None:
    slow = frozenset({OsIndex(0), OsIndex(1)})
    assert set(get_affinity(hybrid(0, 0, 1, 1), 2, HINTS[0], slow).cpus) == slow
