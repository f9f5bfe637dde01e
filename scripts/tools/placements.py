"""The picture of README.md: eight threads packed and spread on a simulated machine of four sockets,
and the programs that run faster there.

    python scripts/tools/placements.py [-o docs/figures/placements.svg] [--programs 6]

Prints the factor of every training program whose two times differ by 20 % and more: its time in the
slower of the two placements over its time in the faster one. The times are those of the shipped
observations of `opteron-6164he` (8 threads). Needs autofinity[plots].
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.cases import INTERESTING
from autofinity.evaluation.times import times_of
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.topology import Topology
from autofinity.report.chart_image import empty_figure, save_figure
from autofinity.sim.preset import load_preset
from autofinity.store.observations import read

ROOT = Path(__file__).resolve().parents[2]
MACHINE, THREADS = "opteron-6164he", 8
BACKGROUND, BORDER, TEXT, FREE, TAKEN = "#ffffff", "#5c6370", "#22262e", "#e4e7ec", "#1f6feb"
SOCKETS_A_LINE, CORES_A_LINE = 2, 3
PLACED = ((PACKED, "packed"), (SPREAD, "spread"))


@dataclass(frozen=True, slots=True)
class Gain:
    """A workload, and its time in one placement over its time in another one."""

    program: str
    input: str
    factor: float

    @property
    def name(self) -> str:
        """Program and input, as the picture has them."""
        return self.program if self.input == "small" else f"{self.program} ({self.input})"


def gains(topology: Topology, fast: Hint, slow: Hint) -> list[Gain]:
    """Workloads that are faster in one placement by the share that makes a case interesting, the
    largest factor first.
    """
    times = times_of(read(ROOT / f"data/observations/{MACHINE}.parquet"))
    found = []
    for workload in times.roi_s:
        if workload.threads != THREADS:
            continue
        threads = times.placed(workload)
        slow_s, fast_s = (
            times.of(workload, get_affinity(topology, threads, hint).affinity)
            for hint in (slow, fast)
        )
        if slow_s / fast_s - 1 >= INTERESTING:
            found.append(Gain(workload.program, workload.input, slow_s / fast_s))
    return sorted(found, key=lambda gain: -gain.factor)


def draw(topology: Topology, panels: Sequence[tuple[Hint, str, list[Gain]]], most: int) -> Any:
    """A column for each placement: the machine with its threads above, bars of factors below."""
    figure = empty_figure(11.0, 5.2)
    figure.set_facecolor(BACKGROUND)
    grid = figure.subplots(2, len(panels), height_ratios=(5, 4))
    longest = max(gain.factor for _, _, some in panels for gain in some)
    for column, (hint, name, some) in enumerate(panels):
        _machine(grid[0][column], topology, hint, name)
        counted = f"{len(some)} inputs are faster {name}, by a factor of"
        if len(some) > most:
            counted += f" (the first {most})"
        _bars(grid[1][column], some[:most], counted, longest)
    figure.subplots_adjust(left=0.11, right=0.98, top=0.93, bottom=0.04, wspace=0.3, hspace=0.12)
    return figure


def _machine(axes: Any, topology: Topology, hint: Hint, name: str) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    placed = get_affinity(topology, THREADS, hint)
    thread_of = {cpu: thread for thread, cpu in enumerate(placed.cpus)}
    axes.set_title(f"8 threads {name}: hint {hint}", fontsize=13, color=TEXT, pad=8)
    for socket, pus in groupby(topology.pus, key=lambda pu: pu.package):
        left = socket % SOCKETS_A_LINE * 8.4
        top = -(socket // SOCKETS_A_LINE) * 4.3
        box = FancyBboxPatch((left, top), 7.8, 3.8, boxstyle="round,pad=0,rounding_size=0.2")
        box.set(facecolor=BACKGROUND, edgecolor=BORDER, linewidth=1.4)
        axes.add_patch(box)
        axes.text(left + 0.25, top + 3.3, f"socket {socket}", fontsize=9, color=TEXT)
        for position, (_, cores) in enumerate(groupby(pus, key=lambda pu: pu.llc)):
            cache_left = left + 0.25 + position * 3.75
            cache = Rectangle((cache_left, top + 0.2), 3.55, 2.9)
            cache.set(facecolor=BACKGROUND, edgecolor=BORDER, linewidth=0.8)
            axes.add_patch(cache)
            axes.text(cache_left + 0.12, top + 0.36, "L3, memory", fontsize=7, color=BORDER)
            for core, pu in enumerate(cores):
                x = cache_left + 0.15 + core % CORES_A_LINE * 1.12
                y = top + 2.05 - core // CORES_A_LINE * 1.12
                thread = thread_of.get(pu.os_index)
                square = Rectangle((x, y), 1.0, 0.95)
                square.set(facecolor=FREE if thread is None else TAKEN, edgecolor="none")
                axes.add_patch(square)
                if thread is not None:
                    where = (x + 0.5, y + 0.45)
                    axes.text(*where, thread, color="white", fontsize=9, ha="center", va="center")
    axes.set(xlim=(-0.1, 16.4), ylim=(-4.4, 3.9), aspect="equal")
    axes.axis("off")


def _bars(axes: Any, some: Sequence[Gain], title: str, longest: float) -> None:
    names = [gain.name for gain in some]
    drawn = axes.barh(names, [gain.factor - 1 for gain in some], left=1, color=TAKEN, height=0.6)
    labels = [f"{gain.factor:.2f} ×" for gain in some]
    axes.bar_label(drawn, labels=labels, padding=4, fontsize=10, color=TEXT)
    axes.invert_yaxis()
    axes.set_xlim(1, longest * 1.15)
    axes.set_title(title, fontsize=11, color=TEXT, loc="left")
    axes.tick_params(length=0, labelsize=10, labelcolor=TEXT, labelbottom=False)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


def main() -> None:
    """Print the factors, and draw the picture."""
    parser = argparse.ArgumentParser(description="Draw the picture of README.md.")
    parser.add_argument("-o", type=Path, metavar="FILE", help="the picture: .svg, .png or .pdf")
    parser.add_argument("--programs", type=int, default=6, help="at most so many bars a placement")
    asked = parser.parse_args()
    topology = load_preset(MACHINE).topology
    hints = [hint for hint, _ in PLACED]
    panels = [
        (hint, name, gains(topology, hint, other))
        for (hint, name), other in zip(PLACED, reversed(hints), strict=True)
    ]
    for _, name, some in panels:
        for gain in some:
            print(f"{name}\t{gain.name}\t{gain.factor:.2f}")
    if asked.o is not None:
        import matplotlib

        with matplotlib.rc_context({"svg.fonttype": "none", "font.family": "sans-serif"}):
            save_figure(draw(topology, panels, asked.programs), "placements", asked.o)


if __name__ == "__main__":
    main()
