"""The edge between programs that a second look slowed down and others is known before learning."""

from __future__ import annotations

import numpy as np
import pytest

from autofinity.learning.known_edges import PAR, known_edges, with_known_edge
from autofinity.learning.regret_tree import Losses, grow
from autofinity.model.affinity import HINTS
from autofinity.model.ratios import SPEED_GAIN


def test_the_edge_is_what_a_tie_allows_a_look_to_be_slower() -> None:
    assert pytest.approx(1 / 1.01) == PAR


@pytest.mark.parametrize(
    ("cuts", "expected"),
    [
        ((0.6, 0.97, 1.3), (0.6, PAR, 1.3)),
        ((0.6, 1.3), (0.6, PAR, 1.3)),
        ((0.96, 1.02), (PAR,)),
        ((), (PAR,)),
    ],
    ids=["beside", "far away", "two beside", "none"],
)
def test_the_known_edge_replaces_cuts_that_no_value_separates_from_it(
    cuts: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    assert with_known_edge(cuts, np.array([0.5, 0.95, 1.05, 2.0])) == expected


@pytest.mark.parametrize("values", [[0.5, 0.7], [1.1, 1.3], []])
def test_without_values_on_both_sides_cuts_stay(values: list[float]) -> None:
    assert with_known_edge((0.6, 1.2), np.array(values)) == (0.6, 1.2)


def test_only_the_speed_in_a_second_look_has_a_known_edge() -> None:
    assert known_edges({"llc_misses": (PAR, 2.0), SPEED_GAIN: (0.5, PAR, 2.0)}) == {1: 1}
    assert known_edges({SPEED_GAIN: (0.5, 2.0)}) == {}


@pytest.mark.parametrize(
    ("known", "highest_below"),
    [({}, 2), ({0: 1}, 1), ({0: 3}, 3), ({0: 0}, 2), ({0: 5}, 2)],
    ids=["none", "as good", "as good, too", "worse, below", "worse, above"],
)
def test_a_known_edge_is_chosen_where_it_is_as_good_as_the_best(
    known: dict[int, int], highest_below: int
) -> None:
    """Rows in bins 0, 1, 5 and 6: edges after the bins 1 to 4 are equally good."""
    loss = np.ones((4, len(HINTS)))
    loss[:2, 0] = loss[2:, 1] = 0.0
    data = Losses(np.array([[0], [1], [5], [6]]), loss, (7,), known_edges=known)
    below, above = grow(data, [0], 2)
    assert (below.box[0], above.box[0]) == ((0, highest_below), (highest_below + 1, 6))
