"""A message between two cores takes as long as others measured, by how far the cores are apart.

Two threads compare and swap one line, as core-to-core-latency does; the figures and where they are
from are in `tests/fidelity/core_to_core.toml`.
"""

from __future__ import annotations

import pytest
from measure_core_to_core import DISTANCES, Measured, measured, messages_ns, pairs_at

WITHIN = 0.10

MACHINES = measured()
CASES = [(each, distance) for each in MACHINES for distance in each.by_distance]


@pytest.mark.parametrize(
    ("machine", "distance"), CASES, ids=[f"{each.name}-{distance}" for each, distance in CASES]
)
def test_a_message_takes_as_long_as_was_measured(machine: Measured, distance: str) -> None:
    pairs = pairs_at(machine.spec, distance, package=0)
    assert len(pairs) > 1
    expected = machine.by_distance[distance].median
    for got in messages_ns(machine.spec, pairs):
        assert got == pytest.approx(expected, rel=WITHIN)


@pytest.mark.parametrize("machine", MACHINES, ids=[each.name for each in MACHINES])
def test_what_was_measured_lies_between_its_quartiles_and_grows_with_the_distance(
    machine: Measured,
) -> None:
    spreads = [machine.by_distance[each] for each in DISTANCES if each in machine.by_distance]
    for spread in spreads:
        assert spread.lower <= spread.median <= spread.upper
    medians = [spread.median for spread in spreads]
    assert medians == sorted(medians)


def test_five_machines_were_measured_of_which_some_have_siblings_dies_and_sockets() -> None:
    assert len(MACHINES) >= 5
    for distance in DISTANCES:
        assert sum(distance in each.by_distance for each in MACHINES) >= 3, distance
