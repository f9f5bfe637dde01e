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


def test_section_2_2_1_figure_3_draws_equation_1_and_beside_it_the_one_off_the_diagonal() -> None:
    alike = SharingMatrix(((0.0, 2.0, 2.0), (2.0, 0.0, 2.0), (2.0, 2.0, 0.0)))
    pair = SharingMatrix(((0.0, 4.0, 0.0), (4.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    chart = figure_3.FIGURE.draw({"alike": alike, "pair": pair}, "here")
    # Normalised, rows are (0, 1, 1) with mean 2/3; (0, 1, 0) with mean 1/3, twice, and zeros.
    assert drawn_of(chart, "heterogeneity") == pytest.approx(
        {"alike": 100 * 3 * (4 + 1 + 1) / 81, "pair": 100 * 2 * (1 + 4 + 1) / 81}
    )
    off = drawn_of(chart, "off the diagonal")
    assert off["alike"] == 0 < off["pair"]
    assert drawn_of(chart, "amount")["alike"] == pytest.approx(100)
