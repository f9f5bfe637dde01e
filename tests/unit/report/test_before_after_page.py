"""Threads before and after a mechanism moved them, on a page of a comparison."""

from __future__ import annotations

import plotly.graph_objects as go
from paper_runs import RUN

from autofinity.evaluation.watched_run import BeforeAfter, WatchedRun
from autofinity.model.timeline import TimelineStep
from autofinity.report.before_after_page import before_after_section
from autofinity.report.page import Block, Folded, Plot, Sentences

MS = 1_000_000


def watched(
    lasted_ms: int, instructions: float, nodes: tuple[int, ...], threads: int
) -> WatchedRun:
    """A run of two looks, whose threads read from these nodes."""
    counts = {
        "instructions": instructions,
        "cycles": 3e6,
        "cpu_clocks_halted": 1e6,
        **{f"dram_reads_node_{node}": 1e4 * (1 + node) for node in nodes},
    }
    half = lasted_ms * MS // 2
    looks = tuple(
        TimelineStep(at * half, (at + 1) * half, dict.fromkeys(range(threads), counts), place=place)
        for at, place in enumerate(("", "0 1"))
    )
    return WatchedRun(RUN, looks, moved=True)


def section_of(threads: int) -> tuple[Block, ...]:
    before = watched(20, 1e7, (0, 1), threads)
    after = watched(10, 1e7, (0,), threads)
    still = WatchedRun(RUN, before.looks, moved=False)
    series = {
        "kmaf16": BeforeAfter("cg", before, after),
        "tlb": BeforeAfter("cg", before, still),
        "spcd": "no memory left",
    }
    return before_after_section(series, {name: f"{name}, cg" for name in series}).blocks


def plots_of(threads: int) -> list[Plot]:
    _, first, _, _ = section_of(threads)
    assert isinstance(first, Folded)
    return [block for block in first.blocks if isinstance(block, Plot)]


def test_each_quantity_is_shown_before_and_after_on_the_same_scales() -> None:
    for threads in (2, 40):
        plots = plots_of(threads)
        kinds = ("instructions", "halted", "reads-by-node")
        ends = ("before", "after")
        assert [plot.name for plot in plots] == [
            f"time-{kind}-kmaf16-{end}" for kind in kinds for end in ends
        ]
        for before, after in zip(plots[::2], plots[1::2], strict=True):
            go.Figure(before.figure)
            one, other = before.figure["layout"], after.figure["layout"]
            assert one["title"]["text"].endswith(", under os")
            assert other["title"]["text"].endswith(", under kmaf16")
            axes = [name for name in one if name.startswith(("xaxis", "yaxis"))]
            assert [one[name].get("range") for name in axes] == [
                other[name].get("range") for name in axes
            ]
            assert one["xaxis"]["range"] == [0, 20]
            assert before.figure["data"][0].get("zmax") == after.figure["data"][0].get("zmax")
            assert one.get("coloraxis") == other.get("coloraxis")


def test_nothing_is_higher_than_its_axis() -> None:
    for plot in plots_of(2):
        highest = plot.figure["layout"]["yaxis"]["range"][1]
        stacked: dict[tuple[str, int], float] = {}
        for trace in plot.figure["data"]:
            for at, value in enumerate(trace["y"]):
                key = trace.get("xaxis", trace["name"]), at
                stacked[key] = stacked.get(key, 0.0) + value
        assert 0 < max(stacked.values()) <= highest


def test_waits_are_the_share_of_a_threads_time_in_which_it_did_not_run() -> None:
    (before,) = (plot for plot in plots_of(2) if plot.name == "time-halted-kmaf16-before")
    assert before.figure["data"][0]["y"] == [25.0, 25.0]


def test_nodes_have_the_same_colours_before_and_after() -> None:
    before, after = plots_of(2)[-2:]
    of_node = [
        {trace["name"]: trace["marker"]["color"] for trace in plot.figure["data"]}
        for plot in (before, after)
    ]
    assert set(of_node[0]) == {"node 0", "node 1"}
    assert of_node[1].items() <= of_node[0].items()


def test_what_moved_nothing_or_was_not_recorded_is_said() -> None:
    _, _, still, failed = section_of(2)
    assert still == Folded("tlb, cg", (Sentences(("tlb moved no thread and no page.",)),))
    assert failed == Folded("spcd, cg", (Sentences(("Not recorded: no memory left",)),))
