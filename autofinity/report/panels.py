"""Panels of one figure: their axes, titles and place in a grid."""

from __future__ import annotations

import math
from typing import Any


def grid(panels: int, across: int, gap_px: int, panel_px: int) -> dict[str, Any]:
    """A grid with room between two panels, one below the other; `panel_px` contains it."""
    return {
        "rows": math.ceil(panels / across),
        "columns": across,
        "pattern": "independent",
        "xgap": 0.12,
        "ygap": gap_px / panel_px,
    }


def suffix(panel: int) -> str:
    """End of the names of a panel's axes."""
    return str(panel + 1) if panel else ""


def on_panel(panel: int) -> dict[str, str]:
    """The axes of a trace on a panel."""
    return {"xaxis": f"x{suffix(panel)}", "yaxis": f"y{suffix(panel)}"}


def panel_title(panel: int, text: str) -> dict[str, Any]:
    """A title above a panel."""
    return {
        "text": text,
        "xref": f"x{suffix(panel)} domain",
        "yref": f"y{suffix(panel)} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12},
    }
