"""The figures of kMAF'14 that are of pages and of who shares."""

from __future__ import annotations

import pytest
from paper_runs import drawn_of

from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.papers.beside import PAPER
from autofinity.papers.kmaf14 import figure_1, figure_2, figure_3

VECTORS = {"a": NumaVectors({1: (9, 1), 2: (5, 5)}), "b": NumaVectors({1: (10, 0)})}


def test_average_exclusivity_is_drawn_for_each_program_beside_the_papers() -> None:
    chart = figure_1.FIGURE.draw({4096: VECTORS}, "here")
    assert drawn_of(chart, "4 KiB") == pytest.approx({"a": 70, "b": 100, "mean": 85, PAPER: 83.6})


def test_shares_of_pages_are_drawn_by_tenths_of_exclusivity() -> None:
    shares = figure_2.FIGURE.draw(VECTORS, "here")
    assert drawn_of(shares, "90 %") == {"a": 50, "b": 0}
    assert drawn_of(shares, "100 %") == {"a": 0, "b": 100}


def test_who_shares_alike_with_all_is_not_heterogeneous() -> None:
    alike = SharingMatrix(((0.0, 2.0, 2.0), (2.0, 0.0, 2.0), (2.0, 2.0, 0.0)))
    pair = SharingMatrix(((0.0, 4.0, 0.0), (4.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    chart = figure_3.FIGURE.draw({"alike": alike, "pair": pair}, "here")
    heterogeneity = drawn_of(chart, "heterogeneity")
    assert heterogeneity["alike"] == 0 < heterogeneity["pair"]
    assert drawn_of(chart, "amount")["alike"] == pytest.approx(100)
