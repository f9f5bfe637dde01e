"""The native form of a topology."""

import pickle
from dataclasses import replace

import pytest

from autofinity._core.topology import Machine
from autofinity.affinity.topology_handle import topology_handle
from autofinity.mapping.cost import distance
from autofinity.model.topology import OsIndex
from autofinity.sim.preset import load_preset

TOPOLOGY = load_preset("opteron-6164he").topology
ROW = (0, 0, 0, 0, 0, 0, 0, 0)


def test_it_is_made_once_for_a_topology() -> None:
    assert topology_handle(TOPOLOGY) is topology_handle(TOPOLOGY)
    assert topology_handle(replace(TOPOLOGY)) is not topology_handle(TOPOLOGY)


def test_a_topology_that_was_mapped_on_can_still_be_pickled() -> None:
    far = OsIndex(0), OsIndex(47)
    asked = distance(TOPOLOGY, *far)
    again = pickle.loads(pickle.dumps(TOPOLOGY))
    assert distance(again, *far) == asked == topology_handle(again).distance(*far)


def test_an_llc_domain_that_spans_sockets_is_one_on_each() -> None:
    one_llc = replace(TOPOLOGY, pus=tuple(replace(pu, llc=0) for pu in TOPOLOGY.pus))
    handle = topology_handle(one_llc)
    # The larger of LLC domain and node comes first, here the domain.
    parts = {handle.path(int(pu.os_index))[:2] for pu in one_llc.pus}
    assert parts == {(socket, socket) for socket in range(one_llc.n_packages)}


@pytest.mark.parametrize(
    ("pus", "slit", "why"),
    [
        ([ROW, (0, 1, 0, 0, 0, 0, 0, 0)], [10], "two PUs have the same OS index"),
        ([(0, 0, 1, 0, 0, 0, 0, 0)], [10], "a PU has an index outside the machine"),
        ([(0, 0, 0, 0, 0, 0, -1, 0)], [10], "a PU has an index outside the machine"),
        ([ROW], [10, 20], "not a square matrix"),
    ],
)
def test_a_machine_that_cannot_be_is_refused(
    pus: list[tuple[int, int, int, int, int, int, int, int]], slit: list[int], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        Machine(pus, slit, 1, [0])
