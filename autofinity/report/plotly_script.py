"""The script that draws plots in a page: plotly's, from its package (the extra `plots`).

Plotly was chosen for pages, beside matplotlib for files, because it draws SVG (sharp on paper, and
a style sheet can recolour its axes for a dark page) and brings zoom, hover and a legend that
filters.
Figures are plain data of its published schema, so nothing but this file imports it. docs/report.md
compares it with others.
"""

from __future__ import annotations

from importlib.util import find_spec

from autofinity.model.errors import CapabilityError

_MISSING = (
    "plotly, which draws the plots of a page, is not installed; install autofinity[plots], or omit "
    "--html"
)


def check_plotly() -> None:
    """Raise `CapabilityError` where plotly is not installed; imports nothing."""
    if find_spec("plotly") is None:
        raise CapabilityError(_MISSING)


def plotly_script() -> str:
    """Text of the script, 4.8 MB. Raises `CapabilityError` where plotly is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise CapabilityError(_MISSING) from error
    script: str = get_plotlyjs()
    return script
