"""A chart of our means beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Mapping

from autofinity.papers.figure import AnyFigure
from autofinity.report.chart import Chart

MEAN, PAPER, OURS = "mean", "the paper's mean", "ours"
"""Names of positions and series in all charts of mechanisms."""


def beside(
    figure: AnyFigure, ours: Mapping[str, float], on: str, x_label: str, y_label: str
) -> Chart:
    """Two series: at the positions that we have, and those that only the paper has."""
    positions = tuple(dict.fromkeys([*ours, *figure.numbers]))
    return Chart(
        f"{figure.title}, {on}",
        x_label,
        y_label,
        positions,
        {
            OURS: tuple(ours.get(name, math.nan) for name in positions),
            PAPER: tuple(figure.numbers.get(name, math.nan) for name in positions),
        },
    )
