"""Nearness to a device: an order among the core sets of one affinity, and nothing else."""

from __future__ import annotations

from affinity_definition import machines, near_by_definition
from hypothesis import given, settings
from hypothesis import strategies as st

from autofinity.affinity.hints import all_hints, get_affinity
from autofinity.model.affinity import HINTS
from autofinity.model.topology import OsIndex, Topology
from autofinity.sim.preset import load_preset, preset_names

ALIKE = [name for name in preset_names() if load_preset(name).topology.n_nodes > 1]
"""Machines with several nodes; their sockets are alike."""

type Drawn = tuple[Topology, frozenset[OsIndex]]


@settings(max_examples=300)
@given(machines(), st.data())
def test_the_nearest_core_set_is_that_of_the_definition(
    machine: Drawn, data: st.DataObject
) -> None:
    topology, available = machine
    if not available:
        return
    threads = data.draw(st.integers(1, len(available)))
    nodes = data.draw(st.sets(st.integers(0, topology.n_nodes - 1), min_size=1))
    near = frozenset(nodes)
    for hint in HINTS:
        plain = get_affinity(topology, threads, hint, available)
        found = get_affinity(topology, threads, hint, available, near)
        assert found.affinity == plain.affinity, str(hint)
        if topology.n_nodes > 1:
            expected = near_by_definition(topology, threads, hint, available, near)
            assert sorted(found.cpus) == expected, str(hint)


@given(machines(), st.data())
def test_without_a_device_nothing_changes(machine: Drawn, data: st.DataObject) -> None:
    topology, available = machine
    if not available:
        return
    threads = data.draw(st.integers(1, len(available)))
    assert all_hints(topology, threads, available, frozenset()) == all_hints(
        topology, threads, available
    )


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ALIKE), st.data())
def test_on_a_machine_of_equal_sockets_the_device_has_threads_on_its_node(
    name: str, data: st.DataObject
) -> None:
    topology = load_preset(name).topology
    node = data.draw(st.sampled_from(sorted({pu.node for pu in topology.pus})))
    cores = len({pu.core for pu in topology.pus if pu.node == node})
    threads = data.draw(st.integers(1, cores))
    pus = topology.by_os_index
    for match in all_hints(topology, threads, near=frozenset({node})):
        assert pus[match.cpus[0]].node == node, str(match.hint)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ALIKE), st.data())
def test_a_packed_program_that_fits_on_the_device_s_node_is_there(
    name: str, data: st.DataObject
) -> None:
    topology = load_preset(name).topology
    node = data.draw(st.sampled_from(sorted({pu.node for pu in topology.pus})))
    threads = data.draw(st.integers(1, 2))
    pus = topology.by_os_index
    packed = get_affinity(topology, threads, HINTS[-1], near=frozenset({node}))
    assert {pus[cpu].node for cpu in packed.cpus} == {node}
