"""Behaviours by program, counted by hand."""

from __future__ import annotations

import math

from observed import observation

from autofinity.evaluation.coverage import coverage
from autofinity.model.counters import Behaviour
from autofinity.model.observation import Observation
from autofinity.store.observations import table_of

CUTS = {"a": (1.0,), "b": (1.0, 2.0)}


def samples(program: str, *values: tuple[float, float]) -> list[Observation]:
    return [
        observation(program=program, sample=number, behaviour=Behaviour({"a": a, "b": b}))
        for number, (a, b) in enumerate(values)
    ]


def test_behaviours_are_bins_counted_once_and_programs_come_in_the_order_of_the_figure() -> None:
    table = table_of(
        samples("wide", (0.5, 0.5), (0.5, 1.5), (0.5, 2.5))
        + samples("same", (0.1, 0.2), (0.9, 1.0))  # (lower, upper]: one behaviour
        + samples("rare", (3.0, 3.0), (math.nan, 0.5))
    )
    found = [
        (each.program, each.behaviours, each.cumulative, each.new, each.own)
        for each in coverage(table, CUTS)
    ]
    assert found == [("rare", 1, 1, 1, 1), ("same", 1, 2, 1, 0), ("wide", 3, 4, 2, 2)]
