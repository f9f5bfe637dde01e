"""Page rules against the worked examples and thresholds of their papers."""

from __future__ import annotations

import pytest

from autofinity.mapping.pages import (
    PageRule,
    PageUse,
    balance,
    carrefour,
    carrefour_rule,
    exclusive_or_interleave,
    interleave,
    least_accessing,
    locality,
    locality_or_balance,
    locality_or_relief,
    most_accessing,
    moves,
    next_touch,
    sammu,
)
from autofinity.model.sharing import NumaVectors, SharingMatrix, page_number
from autofinity.model.sharing_metrics import (
    average_exclusivity,
    heterogeneity,
    heterogeneity_off_diagonal,
    page_exclusivity,
    sharing_amount,
)


@pytest.mark.parametrize(
    ("counts", "node", "wanted"),
    [((1, 0), 0, None), ((1, 1), 0, None), ((1, 4), 0, 1), ((10, 4), 1, 0), ((9, 4), 1, None)],
)
def test_equation_5_migrates_as_table_2_of_kmaf16_shows(
    counts: tuple[int, ...], node: int, wanted: int | None
) -> None:
    assert locality(PageUse(0, counts, node)) == wanted


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ((0, 9, 1, 1), 1),  # 82 % exclusive
        ((0, 8, 1, 1), None),  # 80 % is not above minLoc
        ((0, 2, 0, 0), 1),
        ((0, 1, 0, 0), None),  # exclusive, but equation 5 waits
        ((3, 2, 2, 1), None),  # 37.5 % is not below maxBal at 4 nodes
        ((37, 21, 21, 21), 3),  # 37 % is: interleaved by address
        ((1, 1, 1, 1), None),  # equation 7: more accesses than nodes are needed
        ((0, 0, 0, 0), None),
    ],
)
def test_kmaf16_section_4_5_1_locality_or_balance_is_chosen_by_exclusivity(
    counts: tuple[int, ...], wanted: int | None
) -> None:
    assert locality_or_balance(PageUse(7, counts, 0)) == wanted


def test_kmaf16_section_4_5_3_balance_interleaves_by_address_whatever_the_counts() -> None:
    assert [balance(PageUse(i, (9, 0, 0), 0)) for i in range(4)] == [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("counts", "node", "wanted"),
    [((10, 0), 1, 0), ((9, 0), 1, None), ((15, 6), 1, None), ((10, 0), None, None)],
)
def test_sammu_section_3_3_a_page_moves_when_the_counters_differ_by_its_threshold(
    counts: tuple[int, ...], node: int | None, wanted: int | None
) -> None:
    assert sammu(PageUse(0, counts, node)) == wanted


def test_ties_stay_where_the_page_is() -> None:
    assert most_accessing(PageUse(0, (3, 3, 1), 1)) == 1
    assert most_accessing(PageUse(0, (3, 3, 1), 2)) == 0
    assert most_accessing(PageUse(0, (0, 0), 1)) is None


def test_next_touch_follows_the_last_node() -> None:
    assert next_touch(PageUse(0, (0, 0, 1), 0)) == 2


def test_kmaf16_section_5_3_the_oracle_waits_for_no_counters() -> None:
    assert exclusive_or_interleave(PageUse(6, (1, 0, 0, 0), 3)) == 0
    assert exclusive_or_interleave(PageUse(6, (1, 1, 0, 0), 3)) == 2
    assert interleave(PageUse(6, (0, 0, 0, 0), 3)) == 2


def test_carrefour_co_locates_interleaves_and_leaves_pages_sampled_once() -> None:
    assert carrefour(PageUse(5, (0, 2), 0)) == 1
    assert carrefour(PageUse(5, (1, 2), 0)) == 1
    assert carrefour(PageUse(4, (1, 2), 0)) == 0
    assert carrefour(PageUse(5, (0, 1), 0)) is None


def test_carrefour_does_what_the_whole_makes_worth_while() -> None:
    alone, shared = PageUse(5, (0, 2), 0), PageUse(5, (1, 2), 0)
    local_and_even = NumaVectors({1: (9, 1), 2: (1, 9)}, nodes={1: 0, 2: 1})
    local_on_one = NumaVectors({1: (9, 1), 2: (9, 1)}, nodes={1: 0, 2: 0})
    remote_and_even = NumaVectors({1: (1, 9), 2: (9, 1)}, nodes={1: 0, 2: 1})
    assert [carrefour_rule(local_and_even)(page) for page in (alone, shared)] == [None, None]
    assert [carrefour_rule(local_on_one)(page) for page in (alone, shared)] == [None, 1]
    assert [carrefour_rule(remote_and_even)(page) for page in (alone, shared)] == [1, None]


def test_unified_balances_shared_pages_off_overloaded_nodes_only() -> None:
    """Evenly loaded nodes keep shared pages; else the fullest node gives them away."""
    shared = PageUse(3, (5, 5), 0)
    even = NumaVectors({3: (5, 5), 4: (5, 5)}, nodes={3: 0, 4: 1})
    full = NumaVectors({3: (5, 5), 5: (5, 5), 4: (1, 1)}, nodes={3: 0, 5: 0, 4: 1})
    assert locality_or_relief(even)(shared) is None
    assert locality_or_relief(full)(shared) == 1
    assert locality_or_relief(full)(PageUse(4, (5, 5), 1)) is None  # on the emptier node
    assert locality_or_relief(full)(PageUse(3, (5, 5))) is None  # on an unknown node
    assert locality_or_relief(NumaVectors({}))(shared) is None


def test_unified_relieves_a_node_by_nodes_with_less_and_with_threads_only() -> None:
    """Pages by address; node 3 has memory, and no thread that uses it."""
    pages = dict.fromkeys(range(8), (4, 4, 4, 0))
    loads = dict.fromkeys(range(5), 0) | {5: 1, 6: 1, 7: 2}
    relief = locality_or_relief(NumaVectors(pages, nodes=loads))
    assert [relief(PageUse(page, pages[page], 0)) for page in range(4)] == [1, 2, 1, 2]
    even = NumaVectors(pages, nodes={page: page % 3 for page in range(6)})
    assert {locality_or_relief(even)(PageUse(1, (4, 4, 4, 0), node)) for node in range(3)} == {None}


def test_unified_moves_pages_of_one_node_as_soon_as_chance_is_unlikely() -> None:
    """Two samples do where nearly all pages are one node's; where most are shared, more are."""
    private = {page: (4, 0) if page % 2 else (0, 4) for page in range(20)}
    mostly_private = locality_or_relief(NumaVectors(private))
    mostly_shared = locality_or_relief(NumaVectors(private | dict.fromkeys(range(18), (3, 1))))
    assert mostly_private(PageUse(1, (0, 2), 0)) == 1
    assert [mostly_shared(PageUse(1, (0, n), 0)) for n in (2, 4, 16, 9999)] == [None, None, 1, 1]
    assert locality_or_relief(NumaVectors({1: (0, 1)}))(PageUse(1, (0, 1), 0)) is None


def test_moves_are_the_pages_that_are_elsewhere() -> None:
    vectors = NumaVectors({3: (0, 9), 1: (9, 0), 2: (0, 9)}, nodes={1: 1, 2: 1})
    assert moves(vectors, most_accessing) == ((1, 0), (3, 1))


NO_MEMORY_ON_1 = (0, 0, 2)
"""Nodes 0 and 2 have memory; node 1 is nearest to node 0."""


@pytest.mark.parametrize(
    ("rule", "counts", "wanted"),
    [
        (locality_or_balance, (2, 2, 2), [0, 2, 0, 2]),
        (locality_or_balance, (0, 9, 0), [0] * 4),
        (exclusive_or_interleave, (2, 2, 2), [0, 2, 0, 2]),
        (least_accessing, (3, 0, 2), [2] * 4),
        (sammu, (0, 15, 0), [0] * 4),
    ],
)
def test_no_page_goes_to_a_node_without_memory(
    rule: PageRule, counts: tuple[int, ...], wanted: list[int]
) -> None:
    """It goes to the nearest node that has some, and is interleaved over those that have."""
    pages = dict.fromkeys(range(4), counts)
    elsewhere = {page: 2 - node for page, node in enumerate(wanted)}
    found = moves(NumaVectors(pages, nodes=elsewhere, homes=NO_MEMORY_ON_1), rule)
    assert [node for _, node in found] == wanted
    there = dict(enumerate(wanted))
    assert not moves(NumaVectors(pages, nodes=there, homes=NO_MEMORY_ON_1), rule)


def test_unified_relieves_a_node_by_nodes_with_memory_only() -> None:
    pages = dict.fromkeys(range(4), (4, 4, 4))
    all_on_0 = NumaVectors(pages, nodes=dict.fromkeys(pages, 0), homes=NO_MEMORY_ON_1)
    assert [node for _, node in moves(all_on_0, locality_or_relief(all_on_0))] == [2] * 4


def test_pages_are_interleaved_by_their_own_size_and_process() -> None:
    huge = {page_number(3, 512 * i): (1, 1) for i in range(3)}
    found = moves(NumaVectors(huge, page_size_bytes=2 << 20), interleave)
    assert [node for _, node in found] == [0, 1, 0]


def test_kmaf14_section_2_2_1_equal_sharing_is_heterogeneous_only_by_the_printed_equation() -> None:
    alike = SharingMatrix(((0, 2, 2), (2, 0, 2), (2, 2, 0)))
    # Row means 4/3: cells differ by 4/3, 2/3, 2/3.
    assert heterogeneity(alike) == pytest.approx((16 + 4 + 4) / 27)
    assert heterogeneity_off_diagonal(alike) == 0
    assert sharing_amount(alike) == pytest.approx(12 / 9)


def test_pairs_are_heterogeneous_by_both() -> None:
    pairs = SharingMatrix(((0, 3, 0, 0), (3, 0, 0, 0), (0, 0, 0, 3), (0, 0, 3, 0)))
    assert heterogeneity(pairs) == pytest.approx((3 * 0.75**2 + 2.25**2) / 4)
    assert heterogeneity_off_diagonal(pairs) == pytest.approx((2 * 1 + 4) / 3)


def test_kmaf14_section_2_2_2_average_exclusivity_weighs_pages_by_their_accesses() -> None:
    assert page_exclusivity((1, 3)) == 0.75
    vectors = NumaVectors({1: (1, 3), 2: (8, 8)})
    assert average_exclusivity(vectors) == pytest.approx((0.75 * 4 + 0.5 * 16) / 20)
    assert average_exclusivity(NumaVectors({})) == page_exclusivity((0, 0)) == 0
