"""A chart as an SVG, PNG or PDF file, by matplotlib (the optional extra `plots`)."""

from __future__ import annotations

import io
import math
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autofinity.foreign_text import one_line
from autofinity.model.errors import CapabilityError, UsageError
from autofinity.report.chart import Chart
from autofinity.whole_file import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")
_MISSING = (
    "matplotlib, which draws pictures, is not installed; install autofinity[plots], or "
    "omit -o for a picture in the terminal"
)
_MARKERS = "+x*os"
_MOST_LABELS = 60


def save(chart: Chart, path: Path) -> None:
    """Draw the chart into `path`, whose suffix is the format; the same chart gives the same bytes.

    Raises `UsageError` for another suffix, `CapabilityError` without matplotlib.
    """
    _check_suffix(path)
    save_figure(drawn(chart), chart.title, path)


def save_figure(figure: Figure, title: str, path: Path) -> None:
    """Save a figure into `path`, whose suffix is the format; the same figure and title give the
    same bytes.

    Raises `UsageError` for another suffix.
    """
    _check_suffix(path)
    import matplotlib

    # Dates and random names of elements would make each file differ.
    unstamped: dict[str, Any] = {
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
        ".png": {},
    }[path.suffix]
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": title}):
        figure.savefig(content, format=path.suffix[1:], metadata=unstamped, bbox_inches="tight")
    replace_file(path, content.getvalue(), durable=False)


def check_picture(path: Path) -> None:
    """Whether a picture can be saved under this name, before it is made; imports nothing.

    Raises `UsageError` for another suffix, `CapabilityError` without matplotlib.
    """
    _check_suffix(path)
    if find_spec("matplotlib") is None:
        raise CapabilityError(_MISSING)


def _check_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path}: expected a name that ends in {', '.join(SUFFIXES)}")


def empty_figure(width_inches: float, height_inches: float) -> Figure:
    """A figure without a window. Raises `CapabilityError` without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise CapabilityError(_MISSING) from error
    return Figure(figsize=(width_inches, height_inches))


def caption(text: str) -> str:
    """Text for matplotlib, in which dollar signs start no formula."""
    return one_line(text).replace("$", r"\$")


def png(chart: Chart) -> bytes:
    """The chart as the bytes of a PNG. Raises the errors of `drawn`."""
    content = io.BytesIO()
    drawn(chart).savefig(content, format="png", bbox_inches="tight")
    return content.getvalue()


def drawn(chart: Chart) -> Figure:
    """The chart as a figure of matplotlib, without a window. Raises `CapabilityError` without
    matplotlib.
    """
    count = len(chart.positions)
    figure = empty_figure(max(5.0, min(14.0, 1.5 + 0.35 * count)), 3.6)
    axes = figure.subplots()
    groups = len(chart.series)
    for number, (name, values) in enumerate(chart.series.items()):
        if chart.kind == "bars":
            at = [i + (number - (groups - 1) / 2) * 0.8 / groups for i in range(count)]
            axes.bar(at, values, 0.8 / groups, label=caption(name))
        else:
            marker = _MARKERS[number % len(_MARKERS)]
            axes.plot(
                range(count), values, marker=marker, markersize=4, linewidth=1, label=caption(name)
            )
    if chart.log:
        axes.set_yscale("log")
    elif chart.kind == "bars":
        axes.set_ylim(bottom=0)
    for i, mark in enumerate(chart.marks):
        top = max(v[i] for v in chart.series.values() if not math.isnan(v[i]))
        axes.annotate(mark, (i, top), ha="center", va="bottom")
    if count <= _MOST_LABELS:
        turned = 90 if max(map(len, chart.positions)) * count > 80 else 0
        axes.set_xticks(range(count), map(caption, chart.positions), rotation=turned, fontsize=8)
    axes.set_xlabel(caption(chart.x_label))
    axes.set_ylabel(caption(chart.y_label))
    axes.set_title(caption(chart.title), fontsize=10)
    if groups > 1:
        axes.legend(fontsize=8)
    return figure
