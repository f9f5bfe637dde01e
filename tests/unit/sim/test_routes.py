"""Routes over physical links, and the distance classes that come of them."""

from __future__ import annotations

import pytest

from autofinity.sim.routes import UnconnectedError, direct_links, routes_over
from autofinity.sim.spec import LinkSpec


def links(*pairs: tuple[int, int]) -> list[LinkSpec]:
    return [LinkSpec(a, b, 10.0) for a, b in pairs]


def test_a_direction_is_a_number_of_its_own() -> None:
    assert routes_over(2, links((0, 1))) == ((), (0,), (1,), ())
    assert routes_over(2, links((1, 0))) == ((), (1,), (0,), ())


def test_a_route_takes_fewest_hops() -> None:
    ring = links((0, 1), (1, 2), (2, 3), (3, 4), (4, 0))
    routes = routes_over(5, ring)
    assert [len(routes[b]) for b in range(5)] == [0, 1, 2, 2, 1]
    assert routes[2] == (0, 2)
    assert routes[3] == (9, 7)  # backwards over links 4 and 3


def test_ties_go_to_the_lowest_link_numbers() -> None:
    square = links((0, 1), (1, 3), (2, 3), (0, 2))
    assert routes_over(4, square)[0 * 4 + 3] == (0, 2)
    assert routes_over(4, square)[3 * 4 + 0] == (3, 1)
    twice = links((0, 1), (0, 1))
    assert routes_over(2, twice)[1] == (0,)


def test_nodes_that_no_link_joins_are_named() -> None:
    with pytest.raises(UnconnectedError, match="from node 0 to node 2"):
        routes_over(4, links((0, 1), (2, 3)))


def test_without_known_links_every_pair_has_one_as_fast_as_its_distance() -> None:
    distance = ((0, 1, 2), (1, 0, 3), (2, 3, 0))
    made, routes = direct_links(distance, (0.0, 12.0, 6.0, 3.0))
    assert [(link.a_node, link.b_node, link.gbs) for link in made] == [
        (0, 1, 12.0),
        (0, 2, 6.0),
        (1, 2, 3.0),
    ]
    assert routes == ((), (0,), (2,), (1,), (), (4,), (3,), (5,), ())


def test_links_without_limits_are_no_links() -> None:
    assert direct_links(((0, 2), (2, 0)), (0.0, 0.0, 0.0)) == ((), ((), (), (), ()))
