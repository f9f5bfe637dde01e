"""Bars: ratios to the baseline beside their mean and the paper's."""

from __future__ import annotations

import math

import pytest
from paper_runs import FakeRuns, case, drawn_of

from autofinity.evaluation.comparison import MechanismCase
from autofinity.papers.beside import PAPER
from autofinity.papers.kmaf14.figure_7 import FIGURE as TIMES
from autofinity.papers.kmaf16.figure_1 import FIGURE as OTHER_BASELINE
from autofinity.papers.kmaf16.figure_7 import FIGURE as UNSAID


def test_bars_are_ratios_to_the_os_beside_their_mean_and_the_papers() -> None:
    cases = [
        *(case("a", name, time) for name, time in (("os", 2.0), ("kmaf14", 1.0))),
        *(case("b", name, time) for name, time in (("os", 2.0), ("kmaf14", 4.0))),
        MechanismCase("b", "random", 1, None, "deadlock"),
    ]
    chart = TIMES.draw(cases, "here")
    assert chart.title == "execution time, here"
    assert drawn_of(chart, "kmaf14") == pytest.approx(
        {"a": 0.5, "b": 2.0, "mean": 1.0, PAPER: 0.862}
    )
    assert math.isnan(drawn_of(chart, "random")["b"])


def test_what_the_paper_only_draws_has_no_bars_of_the_paper() -> None:
    chart = UNSAID.draw([case("a", "os", 2.0), case("a", "kmaf16", 1.0)], "here")
    assert drawn_of(chart, "kmaf16") == {"a": 1.0, "mean": 1.0}


def test_another_baseline_is_run_and_named() -> None:
    times_s = {"os": 1.0, "tr-dr": 4.0, "tl-dr": 3.0, "tr-dl": 2.0, "tl-dl": 1.0}
    runs = FakeRuns(lambda program, mechanism: times_s[mechanism])
    chart = OTHER_BASELINE.drawn(runs)
    assert runs.asked == [(("tr-dr", "tl-dr", "tr-dl", "tl-dl"), {})]
    assert [drawn_of(chart, name)["a"] for name in ("tl-dr", "tr-dl", "tl-dl")] == [0.75, 0.5, 0.25]
