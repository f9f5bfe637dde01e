"""Advice, sharing and comparisons on pages: their data, before any browser sees them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest
from made_up_machine import machine
from paper_runs import RUN

from autofinity.evaluation.comparison import MechanismCase
from autofinity.evaluation.comparison_summary import summarise
from autofinity.evaluation.program_ratios import program_ratios
from autofinity.model.mechanism_run import MechanismRun
from autofinity.model.sharing import NumaVectors, SharingMatrix, page_number
from autofinity.model.timeline import TimelineStep
from autofinity.report.advice_page import gain_plot
from autofinity.report.comparison_page import comparison_sections, ratios_map
from autofinity.report.page import Plot, Section
from autofinity.report.sharing_plots import matrix_plot, page_map, touched_map
from autofinity.report.timeline_plots import missing_quantities, timeline_plots

MS = 1_000_000


def step(number: int, **counts: float) -> TimelineStep:
    return TimelineStep(number * 10 * MS, (number + 1) * 10 * MS, {7: counts, 9: {}})


def run(time_s: float) -> MechanismRun:
    return replace(RUN, time_s=time_s)


def test_rates_over_time_are_per_second_and_in_the_unit_that_the_plot_says() -> None:
    steps = [step(0, instructions=2e7, run_delay_ns=5 * MS), step(1, instructions=4e7)]
    plots = {plot.name: plot for plot in timeline_plots(steps, (7, 9))}
    assert list(plots) == ["time-instructions", "time-waits"]
    seven, nine = plots["time-instructions"].figure["data"]
    assert (seven["name"], nine["name"]) == ("thread 7", "thread 9")
    assert seven["x"] == [5.0, 15.0]
    assert seven["y"] == [2.0, 4.0]  # 10⁹ a second
    assert all(map(math.isnan, nine["y"]))
    assert plots["time-waits"].figure["data"][0]["y"][0] == 50.0
    assert "CPU time" in missing_quantities(steps, (7, 9))
    assert "Instructions" not in missing_quantities(steps, (7, 9))
    for plot in plots.values():
        go.Figure(plot.figure)


def test_bytes_from_memory_are_lines_of_64_bytes() -> None:
    (plot,) = timeline_plots([step(0, dram_reads_remote=1e7)], (7,))
    assert plot.name == "time-reads-remote"
    assert plot.figure["data"][0]["y"] == [64.0]


def test_many_threads_are_rows_of_a_map() -> None:
    counts = {thread: {"instructions": float(thread)} for thread in range(40)}
    (plot,) = timeline_plots([TimelineStep(0, 10 * MS, counts)], tuple(range(40)))
    (trace,) = plot.figure["data"]
    assert trace["type"] == "heatmap"
    assert len(trace["z"]) == 40
    go.Figure(plot.figure)


def test_a_gain_is_shown_with_its_interval_where_it_is_known() -> None:
    assert gain_plot({}) is None
    assert gain_plot({"gain": None, "gains": {}}) is None
    plot = gain_plot({"gain": 1.2, "interval": [1.1, 1.4], "gains": {"cg": 1.1, "lu": 1.3}})
    assert plot is not None
    (trace,) = plot.figure["data"]
    assert trace["y"] == ["expected", "lu", "cg"]
    assert trace["error_x"]["array"] == pytest.approx([0.2, 0.0, 0.0])
    go.Figure(plot.figure)


def test_a_sharing_matrix_has_every_cell() -> None:
    plot = matrix_plot(SharingMatrix(((0.0, 3.0), (3.0, 0.0))), "sharing", "amount")
    (trace,) = plot.figure["data"]
    assert trace["z"] == [[0.0, 3.0], [3.0, 0.0]]
    assert (trace["zmin"], trace["zmax"]) == (0, 3.0)  # plotly takes both or neither
    (few,) = matrix_plot(SharingMatrix(((5.0, 5.0), (5.0, 5.0))), "few", "amount").figure["data"]
    assert (few["zmin"], few["zmax"]) == (0, 5.0)
    go.Figure(plot.figure)


def test_pages_are_in_the_order_of_addresses_with_the_node_that_they_are_on() -> None:
    touched = NumaVectors({9: (1, 0), 4: (0, 5), page_number(1, 2): (7, 7)}, 4096, {4: 1, 9: 0})
    plot = touched_map(touched, "pages")
    touches, on_0, on_1 = plot.figure["data"]
    assert touches["customdata"] == [[0, 1, 7], [5, 0, 7]]
    assert touches["text"][0] == ["page at 0x4000", "page at 0x9000", "process 1, page at 0x2000"]
    assert (on_0["x"], on_1["x"]) == ([1], [0])
    go.Figure(plot.figure)


def test_many_pages_share_columns_and_no_use_is_lost() -> None:
    pages = dict.fromkeys(range(10001), (1, 2))
    plot = page_map(pages, ("a", "b"), "pages", "accesses")
    (trace,) = plot.figure["data"]
    assert len(trace["z"][0]) <= 4000
    assert [sum(row) for row in trace["customdata"]] == [10_001, 20_002]
    assert "a column is 3 pages" in plot.figure["layout"]["xaxis"]["title"]["text"]


@pytest.fixture
def cases() -> list[MechanismCase]:
    return [
        MechanismCase("<b>p</b>", "os", 0, run(2.0)),
        MechanismCase("<b>p</b>", "os", 1, run(4.0)),
        MechanismCase("<b>p</b>", "kmaf16", 0, run(1.5)),
        MechanismCase("<b>p</b>", "kmaf16", 1, run(3.0)),
        MechanismCase("<b>p</b>", "spcd", 0, None, "no such <i>"),
        MechanismCase("q", "kmaf16", 0, run(1.0)),
    ]


def test_a_program_is_compared_with_its_mean_time_under_the_system(
    cases: list[MechanismCase],
) -> None:
    ratios = program_ratios(cases)
    one = ratios["kmaf16"]["<b>p</b>"]
    assert (one.value, one.low, one.high, one.seeds) == (0.75, 0.5, 1.0, 2)
    assert "q" not in ratios["kmaf16"], "it did not run under the operating system"
    assert "spcd" not in ratios


def test_a_comparison_names_what_has_no_result_and_no_name_is_markup(
    cases: list[MechanismCase],
) -> None:
    sections = comparison_sections(cases, summarise(cases), machine())
    assert [section.title for section in sections] == [
        *("Mechanisms over all programs", "Mechanisms by program", "Left out")
    ]
    assert "<b>" not in str(ratios_map(program_ratios(cases)).figure)
    for plot in plots_of(sections):
        go.Figure(plot.figure)


def test_the_threads_of_a_mechanism_are_drawn_where_they_were_at_the_end() -> None:
    cases = [
        MechanismCase(program, mechanism, 0, replace(run(time_s), cpus=cpus))
        for program, mechanism, time_s, cpus in (
            ("p", "os", 2.0, [0, 2]),
            ("q", "os", 2.0, [0, 3]),
            ("p", "kmaf16", 1.8, [1, 2]),
            ("q", "kmaf16", 1.0, [3, 1]),
            ("q", "spcd", 1.0, []),
        )
    ]
    sections = comparison_sections(cases, summarise(cases), machine())
    (drawn,) = (each for each in sections if each.title == "Where the threads were at the end")
    by_title = {block.title: block.blocks[0].svg for block in drawn.blocks}
    assert list(by_title) == ["os, p", "kmaf16, q: 0.50 of the operating system's time"]
    assert "CPU 3: core 3, LLC 0, node 0, socket 0; thread 0<" in list(by_title.values())[1]


def test_an_unknown_figure_has_no_plot(cases: list[MechanismCase]) -> None:
    unknown = [
        replace(case, run=replace(case.run, energy_j=math.nan)) if case.run else case
        for case in cases
    ]
    names = {
        plot.name for plot in plots_of(comparison_sections(unknown, summarise(unknown), machine()))
    }
    assert "vs-os-energy" not in names
    assert "vs-os-time" in names


def plots_of(sections: tuple[Section, ...]) -> list[Plot]:
    found: list[Plot] = []
    blocks: list[Any] = [block for section in sections for block in section.blocks]
    while blocks:
        block = blocks.pop()
        found += [block] if isinstance(block, Plot) else []
        blocks += getattr(block, "blocks", ())
    return found
