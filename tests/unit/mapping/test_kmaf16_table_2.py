"""Table 2 of kMAF'16 beside its equations 4 to 8: where they disagree, and which of them we follow.

docs/mechanisms.md has the same table.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_machine import TOPOLOGY

from autofinity.mapping.pages import (
    LEAST_LOCAL,
    MOST_BALANCED,
    PageRule,
    PageUse,
    balance,
    locality,
    locality_or_balance,
)
from autofinity.mechanisms.kmaf14 import kmaf14
from autofinity.mechanisms.kmaf16 import kmaf16
from autofinity.mechanisms.recipe import Setting
from autofinity.model.sharing import NumaVectors
from autofinity.model.sharing_metrics import page_exclusivity
from autofinity.ports import Interval, MovePages

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "mechanisms.md"
NODES = 2
EVEN, ODD = 6, 7
"""Pages by their numbers: equation 8 has the even ones on N0."""
NAMES = {None: "stays", 0: "to N0", 1: "to N1"}


@dataclass(frozen=True)
class Step:
    """A row of the table."""

    name: str
    vector: tuple[int, int]
    exclusivity: int
    """In %, as printed."""
    node: int
    """Where the page is by the table."""
    papers: int | None
    """Where the table sends it."""


STEPS = (
    Step("a", (1, 0), 100, 0, None),  # the first touch puts it on N0
    Step("b", (1, 1), 50, 0, None),
    Step("c", (1, 4), 80, 0, 1),
    Step("d", (10, 4), 71, 1, 0),
)


def policy(vector: tuple[int, int]) -> str:
    """Equation 4."""
    exclusivity = page_exclusivity(vector)
    if exclusivity > LEAST_LOCAL:
        return "locality"
    return "balance" if exclusivity < MOST_BALANCED / NODES else "none"


def wanted(rule: PageRule, step: Step, page: int) -> int | None:
    """None where it stays."""
    node = rule(PageUse(page, step.vector, step.node))
    return None if node == step.node else node


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_kmaf16_table_2_prints_the_exclusivity_of_equation_3(step: Step) -> None:
    assert round(100 * page_exclusivity(step.vector)) == step.exclusivity


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
@pytest.mark.parametrize("page", [EVEN, ODD])
def test_kmaf16_table_2_is_equation_5_alone_as_its_caption_says(step: Step, page: int) -> None:
    assert wanted(locality, step, page) == step.papers


def test_kmaf16_equations_4_to_8_give_another_table() -> None:
    found = {
        step.name: (
            policy(step.vector),
            *(wanted(locality_or_balance, step, page) for page in (EVEN, ODD)),
        )
        for step in STEPS
    }
    assert found == {
        "a": ("locality", None, None),  # equation 5: 1 is not more than 2 x 0 + 1
        "b": ("balance", None, None),  # equation 7: 2 faults are not more than 2 nodes
        "c": ("none", None, None),  # 80 % is not above minLoc, nor below maxBal, 75 %
        "d": ("balance", 0, None),  # equation 8: by its address, not by who uses it
    }


@pytest.mark.parametrize("page", [EVEN, ODD])
def test_kmaf16_section_4_5_how_many_faults_move_the_page_by_all_equations(page: int) -> None:
    """A page of N0's comes to N1 with the fifth fault from there, and goes back with the first from
    N0, where the table has four and nine; a page of N1's comes with the second, and stays.
    """
    node, moved = 0, {}
    faults = [0, *[1] * 5, *[0] * 16]
    vector = [0, 0]
    for where in faults:
        vector[where] += 1
        to = locality_or_balance(PageUse(page, (vector[0], vector[1]), node))
        if to is not None and to != node:
            node = to
            moved[vector[0], vector[1]] = to
    assert (
        moved
        == {
            EVEN: {(1, 5): 1, (2, 5): 0},  # by locality, above 80 %; balanced back, below 75 %
            ODD: {(1, 2): 1},  # balanced, at 67 %
        }[page]
    )
    assert balance(PageUse(page, (1, 1))) is None


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
@pytest.mark.parametrize("page", [EVEN, ODD])
def test_the_recipe_of_kmaf16_does_what_equations_4_to_8_say(step: Step, page: int) -> None:
    recipe = kmaf16(Setting(TOPOLOGY, 4, clock_hz=1e9), threads=False)
    state = recipe.begin(TOPOLOGY, TOPOLOGY.allowed, 4)
    seen = NumaVectors({page: step.vector}, nodes={page: step.node})
    _, actions = recipe.step(state, Interval(0, 1000, (), pages=seen))
    moved = [move.nodes[0] for move in actions if isinstance(move, MovePages)]
    expected = wanted(locality_or_balance, step, page)
    assert moved == ([] if expected is None else [expected])


def test_kmaf14_equation_6_has_no_policy_before_it() -> None:
    recipe = kmaf14(Setting(TOPOLOGY, 4, clock_hz=1e9), threads=False)
    state = recipe.begin(TOPOLOGY, TOPOLOGY.allowed, 4)
    for step in STEPS:
        seen = NumaVectors({ODD: step.vector}, nodes={ODD: step.node})
        _, actions = recipe.step(state, Interval(0, 1000, (), pages=seen))
        moved = [move.nodes[0] for move in actions if isinstance(move, MovePages)]
        assert moved == ([] if step.papers is None else [step.papers])


def test_the_document_has_this_table() -> None:
    rows = [
        f"| {step.name} | {step.vector[0]}, {step.vector[1]} | {step.exclusivity} % "
        f"| {'allocated on N0' if step.name == 'a' else NAMES[step.papers]} "
        f"| {NAMES[wanted(locality, step, EVEN)]} | {policy(step.vector)} "
        f"| {NAMES[wanted(locality_or_balance, step, EVEN)]} "
        f"| {NAMES[wanted(locality_or_balance, step, ODD)]} |"
        for step in STEPS
    ]
    text = DOCUMENT.read_text()
    assert [row for row in rows if row not in text] == []
