"""Operations cost what was spent over how many there were, and over the time of the run."""

from __future__ import annotations

import math

import pytest
from paper_runs import RUN, FakeRuns, drawn_of

from autofinity.papers.beside import OURS, PAPER
from autofinity.papers.kmaf16.figure_11 import FIGURE as OF_OPERATIONS
from autofinity.papers.kmaf16.table_5 import FIGURE as OF_RUNS


def test_an_operation_costs_what_was_spent_over_how_many_there_were() -> None:
    ours = drawn_of(OF_OPERATIONS.draw([RUN, RUN], "here"), OURS)
    assert ours["page copy"] == pytest.approx(2.5e6)
    assert ours["thread migration"] == pytest.approx(2e6)
    assert math.isnan(ours["fault"])  # the paper has it, runs do not count them


def test_kmaf16_table_5_has_cpu_time_over_the_time_of_the_run_whatever_the_threads() -> None:
    chart = OF_RUNS.drawn(FakeRuns(lambda program, mechanism: 2.0 if mechanism != "os" else 1.0))
    assert drawn_of(chart, OURS)["fault"] == pytest.approx(100 * 0.06 / 2)
    assert drawn_of(chart, PAPER)["fault"] == 0.63
