"""Several sharing matrices side by side, in the terminal and as a picture. The darker, the more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autofinity.model.sharing import SharingMatrix
from autofinity.report.chart_image import empty_figure, save_figure
from autofinity.report.heat_map import heat_lines, shares

_COLUMNS = 4
_SIDE_INCHES = 2.6


def matrix_lines(matrices: Mapping[str, SharingMatrix]) -> list[str]:
    """One below the other, each under its name."""
    return [line for name, matrix in matrices.items() for line in (name, *heat_lines(matrix))]


def save_matrices(matrices: Mapping[str, SharingMatrix], title: str, path: Path) -> None:
    """In rows of four. Raises as `chart_image.save` does."""
    columns = min(_COLUMNS, len(matrices))
    rows = -(-len(matrices) // columns)
    figure = empty_figure(_SIDE_INCHES * columns, _SIDE_INCHES * rows + 0.4)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel, (name, matrix) in zip(panels, matrices.items(), strict=False):
        panel.imshow(shares(matrix), cmap="Greys", vmin=0, vmax=1, origin="lower")
        panel.set_title(name, fontsize=8)
        panel.tick_params(labelsize=7)
        panel.locator_params(integer=True)
    for panel in panels[len(matrices) :]:
        panel.set_axis_off()
    figure.suptitle(title, fontsize=10)
    save_figure(figure, title, path)
