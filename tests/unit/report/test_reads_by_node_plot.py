"""Bytes that threads read, by node, as a plot: its data, before any browser sees them."""

from __future__ import annotations

import plotly.graph_objects as go

from autofinity.model.reads_by_node import NODE_NOT_KNOWN
from autofinity.model.timeline import TimelineStep
from autofinity.report.page import Plot
from autofinity.report.reads_by_node_plot import reads_by_node_plot

S = 10**9


def look(number: int, threads: int, place: str = "", **lines: float) -> TimelineStep:
    counts = dict.fromkeys(range(threads), lines)
    return TimelineStep(number * S, (number + 1) * S, counts, place=place)


def plotted(looks: list[TimelineStep], threads: int) -> Plot:
    plot = reads_by_node_plot(looks, range(threads))
    assert plot is not None
    go.Figure(plot.figure)
    return plot


def test_each_thread_has_a_panel_with_a_bar_a_look_stacked_by_node() -> None:
    looks = [
        look(0, 2, dram_reads_node_0=1e9 / 64, dram_reads_node_10=0.0),
        look(1, 2, "{2}", dram_reads_node_0=0.0, dram_reads_node_10=2e9 / 64),
    ]
    plot = plotted(looks, 2)
    traces = plot.figure["data"]
    assert [(each["name"], each["xaxis"]) for each in traces] == [
        *(("node 0", "x"), ("node 10", "x"), ("node 0", "x2"), ("node 10", "x2"))
    ]
    assert [each["y"] for each in traces[:2]] == [[1.0, 0.0], [0.0, 2.0]]  # GB a second
    assert [each["showlegend"] for each in traces] == [True, True, False, False]
    assert traces[0]["marker"] == traces[2]["marker"] != traces[1]["marker"]
    lines = plot.figure["layout"]["shapes"]
    assert [(line["x0"], line["xref"]) for line in lines] == [(1.0, "x"), (1.0, "x2")]
    assert "Each dotted line is a time at which threads were moved." in plot.caption
    assert "dotted" not in plotted(looks[:1], 2).caption


def test_a_look_too_short_to_be_seen_does_not_set_the_scale_and_this_is_said() -> None:
    def looks(first_ns: int, threads: int) -> list[TimelineStep]:
        early, late = (
            {thread: {"dram_reads_node_0": lines / 64} for thread in range(threads)}
            for lines in (first_ns * 50, S * 2)
        )
        return [TimelineStep(0, first_ns, early), TimelineStep(first_ns, first_ns + S, late)]

    def ends(plot: Plot) -> tuple[float, float]:
        drawn = plot.figure["layout"]
        return drawn["yaxis"].get("range", [0, 0])[1] / 1.05, drawn["coloraxis"]["cmax"]

    for threads, of in ((2, 0), (40, 1)):
        short, long = (plotted(looks(first_ns, threads), threads) for first_ns in (S // 200, S))
        assert round(ends(short)[of], 6) == 2
        assert round(ends(long)[of], 6) == 50
        assert "cut off" in short.caption
        assert "cut off" not in long.caption
    beside = reads_by_node_plot(looks(S, 2), (0, 1), looks(S // 200, 2))
    assert beside is not None
    assert round(ends(beside)[0], 6) == 50


def test_many_threads_are_rows_of_a_map_for_each_node() -> None:
    plot = plotted([look(0, 40, dram_reads_node_0=1.0, dram_reads_node_1=2.0)], 40)
    traces = plot.figure["data"]
    assert [(each["type"], len(each["z"])) for each in traces] == [("heatmap", 40)] * 2
    titles = [each["text"] for each in plot.figure["layout"]["annotations"]]
    assert titles == ["node 0", "node 1"]


def test_the_caption_says_which_reads_have_no_node() -> None:
    known = {"dram_reads_node_0": 1.0, "dram_reads_node_1": 0.0, "dram_reads_node_2": 0.0}
    plot = plotted([look(0, 1, **known, **{NODE_NOT_KNOWN: 3.0})], 1)
    assert [each["name"] for each in plot.figure["data"]] == ["node 0", "node not known"]
    assert "Nothing was read from nodes 1-2." in plot.caption
    assert "Node not known: reads from other nodes than the thread's own" in plot.caption
    assert "not known" not in plotted([look(0, 1, **known)], 1).caption


def test_without_reads_by_node_there_is_no_plot() -> None:
    assert reads_by_node_plot([look(0, 1, dram_reads_remote=1.0)], (0,)) is None
    assert reads_by_node_plot([look(0, 1, dram_reads_node_0=float("nan"))], (0,)) is None


def test_columns_of_maps_are_as_long_as_looks_and_each_map_has_a_time_title() -> None:
    nodes = {f"dram_reads_node_{node}": 1.0 for node in range(8)}
    counts = dict.fromkeys(range(24), nodes)
    looks = [
        TimelineStep(0, S, counts),
        TimelineStep(S, 6 * S, counts, place="{2}"),
        TimelineStep(8 * S, 9 * S, counts, place="{2}"),
    ]
    plot = plotted(looks, 24)
    maps = plot.figure["data"]
    assert [each["x"] for each in maps] == [[0.0, 1.0, 6.0, 8.0, 9.0]] * 8
    assert [len(each["z"][0]) for each in maps] == [4] * 8
    axes = [value for name, value in plot.figure["layout"].items() if name.startswith("xaxis")]
    assert [each["title"]["text"] for each in axes] == ["time since the first look, s"] * 8
    colours = plot.figure["layout"]["coloraxis"]
    assert (colours["cmin"], colours["cmax"]) == (0, 64e-9)  # one line in a second
    scale = colours["colorbar"]
    assert scale["lenmode"] == "pixels"
    assert scale["len"] < plot.height_px / 8


def test_the_lowest_panel_of_each_column_of_bars_has_a_time_title() -> None:
    plot = plotted([look(0, 5, dram_reads_node_0=1.0)], 5)
    axes = [value for name, value in plot.figure["layout"].items() if name.startswith("xaxis")]
    assert ["title" in each for each in axes] == [False, False, True, True, True]


def test_the_legend_of_many_nodes_has_room_below_the_title() -> None:
    def top_px(nodes: int) -> int:
        lines = {f"dram_reads_node_{node}": 1.0 for node in range(nodes)}
        margin = plotted([look(0, 2, **lines)], 2).figure["layout"]["margin"]
        return int(margin["t"])

    assert top_px(16) - top_px(8) == 2 * 20
