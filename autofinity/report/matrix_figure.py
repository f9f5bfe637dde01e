"""Several sharing matrices side by side, in the terminal and as a picture. Darker is more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.sharing import SharingMatrix
from autofinity.model.sharing_metrics import normalised
from autofinity.report.chart_image import caption, empty_figure, save_figure
from autofinity.report.heat_map import heat_lines

_COLUMNS = 4
_SIDE_INCHES = 2.6


@dataclass(frozen=True, slots=True)
class Matrices:
    """The content of the figure, as data."""

    title: str
    by_name: Mapping[str, SharingMatrix]


def matrix_lines(shown: Matrices) -> list[str]:
    """The title, then the matrices one below the other, each under its name."""
    named = shown.by_name.items()
    return [shown.title, *(line for name, each in named for line in (name, *heat_lines(each)))]


def save_matrices(shown: Matrices, path: Path) -> None:
    """Save the matrices in rows of four. Raises the errors of `chart_image.save`."""
    columns = min(_COLUMNS, len(shown.by_name))
    rows = -(-len(shown.by_name) // columns)
    figure = empty_figure(_SIDE_INCHES * columns, _SIDE_INCHES * rows + 0.4)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel, (name, matrix) in zip(panels, shown.by_name.items(), strict=False):
        panel.imshow(normalised(matrix).cells, cmap="Greys", vmin=0, vmax=1, origin="lower")
        panel.set_title(caption(name), fontsize=8)
        panel.tick_params(labelsize=7)
        panel.locator_params(integer=True)
    for panel in panels[len(shown.by_name) :]:
        panel.set_axis_off()
    figure.suptitle(caption(shown.title), fontsize=10)
    save_figure(figure, shown.title, path)
