"""Output options of `figure` and `coverage`: where the picture goes."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.cli.options.output import output_option
from autofinity.cli.printer import say

if TYPE_CHECKING:
    from autofinity.report.chart import Chart
    from autofinity.report.matrix_figure import Matrices


def picture_output[**P, R](what: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`-o` of a command that saves `what`. The file is checked before any work."""

    def check(path: Path) -> None:
        from autofinity.report.chart_image import check_picture

        check_picture(path)

    return output_option(
        f"Save {what} to this file (.svg, .png or .pdf; needs autofinity[plots]).", check=check
    )


picture_option = picture_output("the figure")


def show(drawn: Chart | Matrices, output: Path | None) -> None:
    """Into the file, or onto the terminal."""
    from autofinity.report.chart import Chart

    if output is None:
        for line in _lines(drawn):
            say(line)
        return
    if isinstance(drawn, Chart):
        from autofinity.report.chart_image import save

        save(drawn, output)
    else:
        from autofinity.report.matrix_figure import save_matrices

        save_matrices(drawn, output)
    say(f"{drawn.title}: kept in {output}", err=True)


def _lines(drawn: Chart | Matrices) -> list[str]:
    from autofinity.report.chart import Chart
    from autofinity.report.chart_text import chart_lines
    from autofinity.report.matrix_figure import matrix_lines

    if isinstance(drawn, Chart):
        return chart_lines(drawn, shutil.get_terminal_size().columns)
    return matrix_lines(drawn)


def document(drawn: Chart | Matrices) -> Mapping[str, object]:
    """A chart or matrices as JSON; a gap is null."""
    from autofinity.report.chart import Chart

    if isinstance(drawn, Chart):
        return {
            "title": drawn.title,
            "unit": drawn.y_label,
            "series": {
                name: {
                    position: None if math.isnan(value) else value
                    for position, value in zip(drawn.positions, values, strict=True)
                }
                for name, values in drawn.series.items()
            },
        }
    return {
        "title": drawn.title,
        "matrices": {name: matrix.cells for name, matrix in drawn.by_name.items()},
    }
