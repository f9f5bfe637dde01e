"""Uneven affinities: they fit wherever the threads do, and load each place about twice as much as
the next.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.affinity.enumerate import place
from autofinity.affinity.uneven import halving, uneven_affinities
from autofinity.model.errors import PlacementError
from autofinity.model.topology import OsIndex, Topology
from autofinity.sim.preset import load_preset

from .affinity_definition import machines


@given(machines(), st.data())
def test_they_can_be_placed_on_every_machine_with_a_core_a_thread(
    machine: tuple[Topology, frozenset[OsIndex]], data: st.DataObject
) -> None:
    topology = machine[0]
    allowed = [pu for pu in topology.pus if pu.os_index in topology.allowed]
    cores = len({pu.core for pu in allowed})
    if cores == 0:
        return
    threads = data.draw(st.integers(1, cores))
    for affinity in uneven_affinities(topology, threads):
        assert place(topology, affinity).affinity == affinity
        assert affinity.threads == threads


@given(st.lists(st.integers(1, 64), min_size=1, max_size=12), st.data())
def test_no_room_is_overfull_and_none_of_several_alike_has_less_than_a_later_one(
    rooms: list[int], data: st.DataObject
) -> None:
    threads = data.draw(st.integers(1, sum(rooms)))
    counts = halving(threads, rooms)
    assert sum(counts) == threads
    assert all(0 <= count <= room for count, room in zip(counts, rooms, strict=True))
    if len(set(rooms)) == 1:
        assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(
    ("preset", "threads", "expected"),
    [
        ("opteron-6164he", 8, ["{5,3}", "{4}{2}{1}{1}", "{2,2}{1,1}{1}{1}"]),
        ("opteron-6164he", 16, ["{6,3}{4}{2}{1}", "{5,4}{2,2}{1,1}{1}"]),
        ("epyc-9654", 8, ["{4,2,1,1}", "{5}{3}", "{1,1,1,1,1}{1,1,1}"]),
        ("xeon-e5-2650", 8, ["{8}", "{5}{3}", "{5}{3}"]),
    ],
)
def test_in_one_socket_in_all_and_in_all_spread(
    preset: str, threads: int, expected: list[str]
) -> None:
    topology = load_preset(preset).topology
    assert list(map(str, uneven_affinities(topology, threads))) == expected


def test_more_threads_than_pus_are_an_error() -> None:
    with pytest.raises(PlacementError, match="cannot place 999 threads"):
        list(uneven_affinities(load_preset("opteron-6164he").topology, 999))
