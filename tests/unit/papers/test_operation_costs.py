"""Operations cost what was spent over how many there were, and over the time of the run."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from paper_runs import RUN, FakeRuns, drawn_of

from autofinity.model.detection import FaultSampling
from autofinity.papers.beside import OURS, PAPER
from autofinity.papers.kmaf16 import figure_11, table_5
from autofinity.report.chart import Chart

OF_OPERATIONS, BOXES = figure_11.FIGURES
OF_RUNS, EVENTS = table_5.FIGURES


def test_an_operation_costs_what_was_spent_over_how_many_there_were() -> None:
    ours = drawn_of(OF_OPERATIONS.draw([RUN, RUN], "here"), OURS)
    assert ours["page copy"] == pytest.approx(2.5e6)
    assert ours["thread migration"] == pytest.approx(2e6)
    assert math.isnan(ours["fault"])  # the paper has it, runs do not count them


def test_kmaf16_table_5_has_cpu_time_over_the_time_of_the_run_whatever_the_threads() -> None:
    chart = OF_RUNS.drawn(FakeRuns(lambda program, mechanism: 2.0 if mechanism != "os" else 1.0))
    assert drawn_of(chart, OURS)["fault"] == pytest.approx(100 * 0.06 / 2)
    assert drawn_of(chart, PAPER)["fault"] == 0.63


def test_kmaf16_figure_11_boxes_are_medians_over_runs_of_their_quartiles() -> None:
    other = replace(RUN, operation_ns={"page copy": [3.0, 4.0, 5.0, 6.0, 11.0]})
    chart = BOXES.draw([RUN, other, replace(RUN, operation_ns={})], "here")
    assert isinstance(chart, Chart)
    assert chart.positions == ("least", "lower quartile", "median", "upper quartile", "most")
    assert chart.series == {"page copy": (2.0, 3.0, 4.0, 5.0, 10.0)}


def test_kmaf16_table_5_counts_operations_in_relation_to_each_other() -> None:
    spent = {
        "fault": round(200 * FaultSampling().fault_ns),
        "update": round(250 * FaultSampling().update_ns),
    }
    ours = drawn_of(EVENTS.draw([replace(RUN, overhead_ns=spent)], "here"), OURS)
    assert ours == pytest.approx(
        {
            "normal page faults a 1,000 extra faults": 1000 * 50 / 200,
            "matrix updates a 1,000 extra faults": 1000 * 250 / 200,
            "page migrations a 1,000 extra faults": 1000 * 8 / 200,
            "mappings a 1,000 extra faults": 1000 * 2 / 200,
            "thread migrations a mapping": 4 / 2,
        }
    )
    paper = drawn_of(EVENTS.draw([RUN], "here"), PAPER)
    assert paper["page migrations a 1,000 extra faults"] == pytest.approx(36.5, abs=0.1)
    assert table_5.NORMAL_FAULTS + table_5.FAULTS == table_5.UPDATES
    assert paper["normal page faults a 1,000 extra faults"] == pytest.approx(48.8, abs=0.1)
    assert paper["matrix updates a 1,000 extra faults"] == pytest.approx(1048.8, abs=0.1)
    assert paper["thread migrations a mapping"] == pytest.approx(0.106, abs=0.001)
