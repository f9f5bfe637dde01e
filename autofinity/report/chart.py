"""A chart as data: the content of a figure, for any output (`chart_text`, `chart_image`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over common positions. All series have a value for each position; NaN is a gap."""

    title: str
    x_label: str
    y_label: str
    positions: tuple[str, ...]
    """Label below each position, from left to right."""
    series: Mapping[str, tuple[float, ...]]
    """Name in the legend → values."""
    kind: Literal["bars", "lines"] = "bars"
    marks: tuple[str, ...] = field(default=())
    """Mark above each position, such as ✓ or !; empty for none."""
    log: bool = False
    """Whether values are shown on a logarithmic scale; all must then be above 0."""

    def _repr_png_(self) -> bytes:
        """Image that notebooks show."""
        from autofinity.report.chart_image import png

        return png(self)
