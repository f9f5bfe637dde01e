"""Recorded counters over time on the page of an evaluation."""

from __future__ import annotations

from dataclasses import replace

import plotly.graph_objects as go
import pytest
from few_observations import FEW_ON

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.recorded_series import recorded_series
from autofinity.report.judged_cases import JudgedCase, by_regret, judged_cases
from autofinity.report.page import Folded, Plot, Sentences
from autofinity.report.recorded_section import MOST_CASES, counters_of_looks, recorded_section
from autofinity.workflow.backends import machine_topology
from autofinity.workflow.evaluate import Evaluated


@pytest.fixture(scope="module")
def judged(done: Evaluated) -> list[JudgedCase]:
    return by_regret(judged_cases(done.cases, BestMatches(machine_topology(FEW_ON))))


def figures(done: Evaluated, judged: list[JudgedCase]) -> list[tuple[str, Plot]]:
    section = recorded_section(judged, done.judged, done.policies)
    assert section is not None
    said, *folded = section.blocks
    assert isinstance(said, Sentences)
    assert "no series of single threads" in said.lines[0]
    found = []
    for block in folded:
        assert isinstance(block, Folded)
        (plot,) = block.blocks
        assert isinstance(plot, Plot)
        go.Figure(plot.figure)
        found.append((block.title, plot))
    return found


def test_the_cases_that_lost_most_come_first_and_are_few(
    done: Evaluated, judged: list[JudgedCase]
) -> None:
    titles = [title for title, _ in figures(done, judged * 3)]
    assert len(titles) == MOST_CASES
    assert [title.split(",")[0] for title in titles[: len(judged)]] == [
        one.case.workload.program for one in judged
    ]


def test_each_counter_of_the_policy_has_a_panel_with_the_placements_of_the_case(
    done: Evaluated, judged: list[JudgedCase]
) -> None:
    for (_, plot), one in zip(figures(done, judged), judged, strict=True):
        counters = counters_of_looks(done.policies[one.case.workload.program])
        titles = [each["text"] for each in plot.figure["layout"]["annotations"]]
        assert titles == [name for name in counters if name in titles]
        assert "instructions" in titles
        labels = {trace["name"] for trace in plot.figure["data"]}
        affinities = {one.case.affinities[name] for name in ("spread", "autofinity", "best_hint")}
        assert len(labels) == len(affinities)
        roles = "; ".join(sorted(labels))
        assert all(roles.count(each) == 1 for each in ("before: spread", "chosen: ", "best hint"))


def test_the_placement_of_the_best_hint_is_named_where_another_was_chosen(
    done: Evaluated, judged: list[JudgedCase]
) -> None:
    (one,) = (each for each in judged if each.case.workload.program == "lu")
    packed, spread = (one.case.affinities[name] for name in ("packed", "spread"))
    affinities = {**one.case.affinities, "autofinity": packed, "best_hint": spread}
    lost = replace(one, case=replace(one.case, affinities=affinities), best="spread")
    ((_, plot),) = figures(done, [lost])
    names = {trace["name"].split(", ")[-1] for trace in plot.figure["data"]}
    assert names == {
        "where the sample is taken; best hint: spread",
        f"chosen: {one.case.decision.hint.name}",
    }


def test_values_are_those_on_record_and_axes_have_powers_of_ten(
    done: Evaluated, judged: list[JudgedCase]
) -> None:
    for (_, plot), one in zip(figures(done, judged), judged, strict=True):
        for panel, note in enumerate(plot.figure["layout"]["annotations"]):
            number = str(panel + 1) if panel else ""
            assert plot.figure["layout"][f"yaxis{number}"]["exponentformat"] == "power"
            traces = [each for each in plot.figure["data"] if each["xaxis"] == f"x{number}"]
            affinity = one.case.affinities["spread"]
            series = recorded_series(done.judged, one.case.workload, affinity, (note["text"],))
            if series is not None:
                assert traces[0]["y"] == pytest.approx(series.values[note["text"]], rel=1e-4)


def test_the_axis_of_work_and_the_ends_of_the_lines_are_explained(
    done: Evaluated, judged: list[JudgedCase]
) -> None:
    section = recorded_section(judged, done.judged, done.policies)
    assert section is not None
    said = section.blocks[0]
    assert isinstance(said, Sentences)
    assert "begins after the start of the run and ends before its end" in said.lines[1]
    for _, plot in figures(done, judged):
        by_work = plot.figure["layout"]["xaxis"].get("title", {}).get("text") == "work done, %"
        assert ("Work done: share of the work" in plot.caption) == by_work
        assert all(0 < at < 100 for each in plot.figure["data"] for at in each["x"])


def test_observations_without_the_counters_have_no_section(
    done: Evaluated, judged: list[JudgedCase]
) -> None:
    bare = replace(done.judged, counters={})
    assert recorded_section(judged, bare, done.policies) is None
