"""A mapping as a picture: sharing between threads, by thread and by the threads' seats."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.mapping.compare import Mapped
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import PU, Topology
from autofinity.report.chart_image import caption, empty_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LABELS = 32


def save_mapping(sharing: SharingMatrix, topology: Topology, mapped: Mapped, path: Path) -> None:
    """The matrix twice, darker where threads share more: in thread order, and in the order of the
    CPUs of `mapped`, with lines between LLC domains and thick ones between sockets.

    Raises the errors of `chart_image.save`.
    """
    at = {pu.os_index: i for i, pu in enumerate(topology.pus)}
    seats = sorted(range(sharing.threads), key=lambda thread: at[mapped.cpus[thread]])
    figure = empty_figure(9.0, 4.6)
    by_thread, by_seat = figure.subplots(1, 2)
    _draw(by_thread, sharing, list(range(sharing.threads)), "by thread")
    _draw(by_seat, sharing, seats, "by CPU")
    by_os = topology.by_os_index
    _borders(by_seat, [by_os[mapped.cpus[thread]] for thread in seats])
    most = max(map(max, sharing.cells))
    total = sum(map(sum, sharing.cells)) / 2
    title = (
        f"{mapped.name} on {topology.name}: cost {mapped.cost:g}; sharing {total:g} in all, "
        f"{most:g} of a pair at most"
    )
    figure.suptitle(caption(title), fontsize=10)
    save_figure(figure, title, path)


def _draw(axes: Axes, sharing: SharingMatrix, order: list[int], title: str) -> None:
    axes.imshow([[sharing.cells[i][j] for j in order] for i in order], cmap="Greys", vmin=0)
    axes.set_title(title, fontsize=9)
    step = -(-len(order) // _MOST_LABELS)
    shown = range(0, len(order), step)
    labels = [str(order[i]) for i in shown]
    axes.set_xticks(shown, labels, rotation=90, fontsize=6)
    axes.set_yticks(shown, labels, fontsize=6)
    axes.set_xlabel("thread")


def _borders(axes: Axes, pus: list[PU]) -> None:
    for i, (before, after) in enumerate(pairwise(pus)):
        if (before.package, before.llc) != (after.package, after.llc):
            width = 1.6 if before.package != after.package else 0.6
            axes.axhline(i + 0.5, color="tab:red", linewidth=width)
            axes.axvline(i + 0.5, color="tab:red", linewidth=width)
