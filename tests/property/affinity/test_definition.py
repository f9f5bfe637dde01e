"""GETAFFINITY by direct construction equals its definition."""

from __future__ import annotations

from affinity_definition import by_definition, machines
from hypothesis import given, settings
from hypothesis import strategies as st

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import HINTS, Affinity
from autofinity.model.topology import OsIndex, Topology


@settings(max_examples=300)
@given(machines(), st.data())
def test_the_direct_construction_equals_the_definition(
    machine: tuple[Topology, frozenset[OsIndex]], data: st.DataObject
) -> None:
    topology, available = machine
    if not available:
        return
    threads = data.draw(st.integers(1, len(available)))
    for hint in HINTS:
        expected = by_definition(topology, threads, hint, available)
        found = get_affinity(topology, threads, hint, available)
        assert sorted(found.cpus) == expected, str(hint)
        assert found.affinity == Affinity.of(found.occupancy)
        assert found.affinity.threads == threads
