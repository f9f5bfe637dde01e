"""Cases of an evaluation on a page."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from few_observations import FEW, FEW_ON

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.seed_spread import regret_spread
from autofinity.model.affinity import HINTS
from autofinity.report.evaluation_page import across_sections, evaluation_sections, verdict_plot
from autofinity.report.judged_cases import (
    by_regret,
    cases_table,
    judged_cases,
    regret_plot,
    times_table,
)
from autofinity.report.page import Drawing, Folded, Plot, Table
from autofinity.workflow.backends import machine_topology
from autofinity.workflow.evaluate import Evaluated, evaluate
from autofinity.workflow.observations import shipped_observations
from autofinity.workflow.wanted import wanted_on


def test_cases_are_sorted_by_regret_and_their_numbers_are_those_of_the_cases(
    done: Evaluated,
) -> None:
    match = BestMatches(machine_topology(FEW_ON))
    judged = by_regret(judged_cases(done.cases, match))
    regrets = [one.case.regret for one in judged]
    assert regrets == sorted(regrets, reverse=True)
    table = cases_table(judged, "plot")
    column = table.headings.index("regret")
    assert [row[column].value for row in table.rows] == regrets
    assert {row[0].text for row in table.rows} == set(FEW)
    assert all(len(row) == len(table.headings) for row in table.rows)
    assert all(len(row) == len(times_table(judged).headings) for row in times_table(judged).rows)
    assert [table.headings[at] for at in table.choices] == ["threads", "input", "chosen", "result"]


def test_the_best_hint_is_named_only_where_it_is_another_placement(done: Evaluated) -> None:
    match = BestMatches(machine_topology(FEW_ON))
    for one in judged_cases(done.cases, match):
        best, chosen = one.case.affinities["best_hint"], one.case.affinities["autofinity"]
        assert (one.best == "the same") == (best == chosen)
        if best != chosen:
            (hint,) = (hint for hint in HINTS if hint.name == one.best)
            assert match(best.threads, hint) == best


def test_machines_are_a_column_where_there_are_several(done: Evaluated) -> None:
    match = BestMatches(machine_topology(FEW_ON))
    judged = judged_cases(done.cases, match, machine="here")
    table = cases_table(judged, "plot")
    assert table.headings[:2] == ("machine", "program")
    assert table.search == 1
    assert table.headings[table.choices[0]] == "machine"


def test_points_of_the_plot_are_the_rows_of_the_table(done: Evaluated) -> None:
    judged = by_regret(judged_cases(done.cases, BestMatches(machine_topology(FEW_ON))))
    plot = regret_plot(judged, "plot")
    go.Figure(plot.figure)
    rows = sorted(row for trace in plot.figure["data"] for row in trace["customdata"])
    assert rows == list(range(len(judged)))
    for trace in plot.figure["data"]:
        for row, regret in zip(trace["customdata"], trace["y"], strict=True):
            assert regret == 100 * max(0.0, judged[row].case.regret)
        assert trace["cliponaxis"] is False  # a regret of 0 is a whole circle, not half of one


def test_the_verdict_has_the_intervals_of_the_verdict(done: Evaluated) -> None:
    plot = verdict_plot(done.verdict, "verdict")
    go.Figure(plot.figure)
    (trace,) = plot.figure["data"]
    at = trace["y"].index("packed")
    low, high = done.verdict.confidence["packed_ratio"]
    value = done.verdict.restart.ratios["packed"]
    assert trace["x"][at] == value
    assert np.isclose(trace["error_x"]["array"][at], high - value)
    assert np.isclose(trace["error_x"]["arrayminus"][at], value - low)


def test_a_range_over_seeds_holds_the_regret_of_all_runs_together() -> None:
    observations = shipped_observations(FEW_ON)
    wanted = wanted_on(FEW_ON, programs=("stencil",))
    found = evaluate(wanted, policy="any-machine", observations=observations)
    spreads = {case.workload.input: regret_spread(found.judged, case) for case in found.cases}
    small = spreads.pop("small")
    assert small is not None
    assert small.seeds == 3
    (case,) = (case for case in found.cases if case.workload.input == "small")
    assert small.low - 1e-9 <= case.regret <= small.high + 1e-9
    assert set(spreads.values()) == {None}, "of one run there is no range"


def test_a_section_draws_each_chosen_placement(done: Evaluated) -> None:
    spreads = [None] * len(done.cases)
    sections = evaluation_sections(
        *(done.cases, spreads, done.verdict, done.skipped, machine_topology(FEW_ON)),
        *(done.judged, done.policies),
    )
    (drawn,) = (s for s in sections if s.title == "Where the chosen hints put threads")
    assert len(drawn.blocks) == len({case.decision.hint for case in done.cases})
    for block in drawn.blocks:
        assert isinstance(block, Folded)
        assert f"of {len(done.cases)} cases with 8 threads" in block.title
        (drawing,) = block.blocks
        assert isinstance(drawing, Drawing)
        hint = next(each for each in HINTS if block.title.startswith(each.shown))
        match = BestMatches(machine_topology(FEW_ON))
        for other in HINTS:
            if other != hint:
                same = match(8, other) == match(8, hint)
                assert (f" {other.shown}" in drawing.caption.partition("also")[2]) == same
    (cases,) = (s for s in sections if s.title == "Cases by regret")
    (table,) = (block for block in cases.blocks if isinstance(block, Table))
    assert "range" not in table.headings


def test_a_policy_for_any_machine_has_a_section_for_each_kind_of_unseen(done: Evaluated) -> None:
    topology = machine_topology(FEW_ON)
    by_machine = dict.fromkeys(("one", "other"), (done.cases, done.skipped))
    found = {"program": by_machine, "both": by_machine}
    titles = {"program": "without the program", "both": "without both"}
    sections = across_sections(found, titles, {"one": topology, "other": topology})
    assert [section.title for section in sections] == ["Without the program", "Without both"]
    names = [block.name for each in sections for block in each.blocks if isinstance(block, Plot)]
    assert len(set(names)) == len(names) == 4
    for section in sections:
        (table,) = (block for block in section.blocks if isinstance(block, Table))
        assert {row[0].text for row in table.rows} == {"one", "other"}
        assert len(table.rows) == 2 * len(done.cases)
