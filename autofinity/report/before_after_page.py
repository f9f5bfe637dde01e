"""Threads over time under the operating system and under each mechanism, as a section of a page."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.evaluation.watched_run import MOST_LOOKS, BeforeAfter, Series
from autofinity.mechanisms.registry import BASELINE
from autofinity.report.look_times import Beside
from autofinity.report.page import Block, Folded, Section, Sentences
from autofinity.report.timeline_plots import missing_quantities, timeline_plots

_NOT_OF_THE_MACHINE = ("CPU time", "Waits for a CPU")
"""Quantities of a running program: on a simulated machine, a thread's time is in its waits."""
_INTRODUCTION = (
    "Above: the program under the operating system's scheduler with first-touch pages; below: "
    "under the mechanism, on the same scales. The program is the one whose time the mechanism "
    "changes most, and the seed is the first.",
    "The plots show the simulated run itself, mostly some milliseconds. Figures of runs of a "
    "minute are made of it: its placements are kept for that long. Mechanisms that look in real "
    "time (autofinity, unified) are shown for the whole minute.",
    f"Values are means over looks, at most {MOST_LOOKS} a run. In a run with more, the two "
    f"neighbouring looks that last shortest become one look, until {MOST_LOOKS} are left; a look "
    "from before a move of threads and a look from after the move stay apart.",
)


def before_after_section(series: Series, titles: Mapping[str, str]) -> Section:
    """Plots of each mechanism, folded. `titles` has a title for each."""
    blocks: list[Block] = [Sentences(_INTRODUCTION)]
    for mechanism, each in series.items():
        shown = (
            (Sentences((f"Not recorded: {each}",)),)
            if isinstance(each, str)
            else _plots(mechanism, each)
        )
        blocks.append(Folded(titles[mechanism], shown))
    return Section("Measured before and after, by thread over time", tuple(blocks))


def _plots(mechanism: str, each: BeforeAfter) -> tuple[Block, ...]:
    before, after = each.before, each.after
    if not after.moved:
        return (Sentences((f"{mechanism} moved no thread and no page.",)),)
    threads = before.threads
    above, below = (
        timeline_plots(own.looks, threads, Beside(other.looks, name, f"under {under}"))
        for own, other, name, under in (
            (before, after, f"{mechanism}-before", BASELINE),
            (after, before, f"{mechanism}-after", mechanism),
        )
    )
    blocks: list[Block] = [plot for pair in zip(above, below, strict=True) for plot in pair]
    missing = missing_quantities(before.looks, threads)
    known = [title for title in missing if title not in _NOT_OF_THE_MACHINE]
    if known:
        blocks.append(Sentences((f"Not measured: {'; '.join(known)}.",)))
    return tuple(blocks)
