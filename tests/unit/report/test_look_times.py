"""Times of looks on the axis of a plot: each look where it was, however long it lasted."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from autofinity.model.timeline import TimelineStep
from autofinity.report.look_times import LookTimes
from autofinity.report.timeline_plots import timeline_plots

MS = 10**6
BOUNDS_MS = (0, 100, 200, 300, 400, 5_400, 10_400)


def looks(*bounds_ms: tuple[int, int], threads: int = 1) -> list[TimelineStep]:
    """Looks between these bounds; threads are placed from 400 ms on."""
    return [
        TimelineStep(
            start * MS,
            end * MS,
            {thread: {"instructions": 1e9} for thread in range(threads)},
            place="{2}" if start >= 400 else "",
        )
        for start, end in bounds_ms
    ]


UNEQUAL = tuple(pairwise(BOUNDS_MS))


def test_edges_are_the_bounds_of_looks_of_any_length() -> None:
    times = LookTimes(looks(*UNEQUAL))
    assert times.edges() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 5.4, 10.4])
    assert times.by_column([1, 2, 3, 4, 5, 6]) == [1, 2, 3, 4, 5, 6]


def test_a_time_in_which_nobody_looked_is_an_empty_column() -> None:
    times = LookTimes(looks((0, 100), (300, 2_000), (2_000, 3_000)))
    assert times.edges() == pytest.approx([0, 0.1, 0.3, 2.0, 3.0])
    first, gap, *rest = times.by_column([1.0, 2.0, 3.0])
    assert (first, rest) == (1.0, [2.0, 3.0])
    assert math.isnan(gap)


def test_one_look_has_two_edges() -> None:
    times = LookTimes(looks((50, 150)))
    assert times.edges() == pytest.approx([0, 100])
    assert times.by_column([7.0]) == [7.0]


def test_a_map_changes_at_the_dotted_line() -> None:
    timeline = looks(*UNEQUAL, threads=13)
    (plot,) = timeline_plots(timeline, range(13))
    (trace,) = plot.figure["data"]
    (line,) = plot.figure["layout"]["shapes"]
    assert trace["type"] == "heatmap"
    moved = trace["x"].index(line["x0"])
    assert line["x0"] == pytest.approx(0.4)
    # Ten times as many instructions a second in a tenth of a second as in a whole second.
    assert trace["z"][0][moved - 1 : moved + 1] == pytest.approx([10.0, 0.2])
    assert len(trace["x"]) == len(trace["z"][0]) + 1
