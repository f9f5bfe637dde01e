"""The figures of AutoFinity: what is read of observations, and what is drawn."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from autofinity.evaluation.cases import Case
from autofinity.evaluation.coverage import ProgramCoverage
from autofinity.evaluation.times import Times
from autofinity.learning.condense import condense
from autofinity.learning.settings import CONDENSE, METHODS, LearningSettings
from autofinity.model.affinity import PACKED, Affinity
from autofinity.model.errors import LearningError, UsageError
from autofinity.model.observation import Workload
from autofinity.model.policy import Decision
from autofinity.papers.cc13 import figure_1, figure_2, figure_9, figure_10, figure_11, figure_12
from autofinity.papers.figure import AnyFigure
from autofinity.papers.observed import Observed
from autofinity.report.chart import Chart
from autofinity.sim.events import PAPER_EVENTS
from autofinity.sim.preset import load_preset
from autofinity.store.observation_table import ObservationTable
from autofinity.workflow.machine_events import settings_on

AFFINITIES = (Affinity.of([[8]]), Affinity.of([[4], [4]]), Affinity.of([[4, 4]]))
TIMES = Times(
    {
        Workload("calm", "small", 8): dict.fromkeys(AFFINITIES, 1.0),
        Workload("touchy", "small", 8): dict(zip(AFFINITIES, (3.0, 1.0, 2.0), strict=True)),
        Workload("other", "small", 4): {Affinity.of([[4]]): 1.0, Affinity.of([[2, 2]]): 9.0},
    }
)


def chart_of(drawn: object) -> Chart:
    assert isinstance(drawn, Chart)
    return drawn


def nothing_read(threads: int | None) -> ObservationTable:
    raise AssertionError("nothing is to be read")


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Observed]:
    """Observations of a machine on which `TIMES` were taken."""
    monkeypatch.setattr(figure_1, "times_of", lambda rows: TIMES)
    return lambda **asked: Observed(
        "box", lambda: load_preset("opteron-6164he").topology, lambda threads: None, **asked
    )  # type: ignore[arg-type,return-value]


def test_figure_1_shows_every_affinity_of_the_most_and_the_least_sensitive(
    observed: Callable[..., Observed],
) -> None:
    chart = chart_of(figure_1.FIGURE.drawn(observed()))
    assert chart.title == "Figure 1: all affinities of 8 threads on box"
    assert chart.series == {"touchy": (1.0, 2.0, 3.0), "calm": (1.0, 1.0, 1.0)}
    with pytest.raises(LearningError, match="16 threads"):
        figure_1.FIGURE.data(observed(threads=16))


def test_figure_1_shows_the_programs_asked_for(observed: Callable[..., Observed]) -> None:
    assert list(chart_of(figure_1.FIGURE.drawn(observed(programs=("calm",)))).series) == ["calm"]
    with pytest.raises(UsageError, match="not profiled with 8 threads; expected one of calm"):
        figure_1.FIGURE.data(observed(programs=("calm", "nosuch")))


def test_figure_2a_counts_no_fewer_affinities_than_the_paper_and_reads_nothing() -> None:
    topology = load_preset("opteron-6164he").topology
    chart = chart_of(figure_2.FIGURE.drawn(Observed("box", lambda: topology, nothing_read)))
    ours = dict(zip(chart.positions, chart.series["affinities"], strict=True))
    assert len(ours) == 48
    for threads, count in figure_2.FIGURE.numbers.items():
        assert count <= ours[threads] <= 1.03 * count


def test_figures_9_vary_what_the_paper_gives_times_of() -> None:
    discretisation, condense = figure_9.FIGURES
    assert discretisation.numbers.keys() == discretisation.study.variations.keys() < set(METHODS)
    assert condense.numbers.keys() == condense.study.variations.keys() == set(CONDENSE)
    of = dict.fromkeys(CONDENSE, 0.5) | {"max": 0.25}
    chart = chart_of(condense.draw({"together": of}, "box"))
    assert chart.title.startswith("Figure 9b: what the condense function is worth")
    assert chart.title.endswith("RIPPER"), "the paper has JRip, which needs Java"
    assert dict(zip(chart.positions, chart.series["together"], strict=True))["max"] == 250.0
    assert discretisation.note and "sum" in condense.note


def test_figure_9b_is_the_same_for_the_sum_and_the_mean_where_destinations_stand_alone() -> None:
    """As printed, figure 6 condenses each destination by itself, over as many samples for each."""
    draw = np.random.default_rng(5)
    sizes = np.full(40, 6)
    starts = np.cumsum(sizes) - sizes
    values = draw.random(240) + 0.5
    total, mean = (condense(name, values, starts) for name in ("sum", "mean"))  # type: ignore[arg-type]
    assert (np.argsort(total) == np.argsort(mean)).all()
    more = np.array([0, 6, 18])  # one hint has twice the destinations
    assert np.argmax(condense("sum", values[:24] * 0 + 1, more)) == 1


def test_figure_10_is_of_the_counters_that_the_pmu_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's four were observed on both simulated machines; the Xeon cannot count them."""
    learned: list[tuple[str, ...] | None] = []
    monkeypatch.setattr(
        figure_10,
        "covered_by",
        lambda table, settings, hints_of: (None, learned.append(settings.counters)),
    )
    for machine in ("opteron-6164he", "xeon-x7550"):
        asked = Observed(
            machine,
            lambda machine=machine: load_preset(machine).topology,
            lambda threads: SimpleNamespace(counters=PAPER_EVENTS),  # type: ignore[arg-type,return-value]
            functools.partial(_settings_on, machine),
        )
        figure_10.FIGURE.data(asked)
    assert learned == [PAPER_EVENTS, None]


def _settings_on(
    machine: str, settings: LearningSettings, counters: Collection[str]
) -> LearningSettings:
    return settings_on(settings, machine, counters)


@pytest.mark.parametrize("figure", [figure_11.FIGURE, figure_12.FIGURE])
def test_figures_of_unseen_programs_say_that_the_way_is_not_the_papers(figure: AnyFigure) -> None:
    assert "--paper" in figure.note
    assert "docs/learners.md" in figure.note


def test_figure_10_shows_both_counts_in_the_order_given() -> None:
    covered = [ProgramCoverage("a", 2, 2, 2, 1), ProgramCoverage("b", 3, 4, 2, 2)]
    chart = chart_of(figure_10.FIGURE.draw(covered, "box"))
    assert chart.positions == ("a", "b")
    assert list(chart.series.values()) == [(2.0, 3.0), (2.0, 4.0)]


def case(program: str, threads: int, packed: float, spread: float, ours: float) -> Case:
    roi_s = {"packed": packed, "spread": spread, "autofinity": ours}
    return Case(Workload(program, "small", threads), Decision(PACKED, 0, 1.0, None), {}, roi_s)


CASES = [case("a", 8, 1.0, 4.0, 1.0), case("b", 8, 4.0, 4.0, 4.0), case("a", 16, 3.0, 1.0, 3.0)]


def test_figure_11_shows_one_thread_count_and_the_mean() -> None:
    eight = chart_of(figure_11.FIGURE.draw(CASES[:2], "box"))
    assert eight.title == "Figure 11: 8 threads on box"
    assert eight.positions == ("a", "b", "geometric mean")
    assert eight.series["packed"] == pytest.approx((1e3, 4e3, 2e3))


def test_a_program_with_several_inputs_is_named_with_its_input() -> None:
    large = replace(CASES[0], workload=Workload("a", "memory", 8))
    eight = chart_of(figure_11.FIGURE.draw([*CASES[:2], large], "box"))
    assert eight.positions == ("a small", "b", "a memory", "geometric mean")
    assert eight.log  # inputs that do not fit into caches take a hundred times as long


def test_figure_12_marks_the_interesting_cases() -> None:
    interesting = chart_of(figure_12.FIGURE.draw(CASES, "box"))
    assert interesting.positions == ("a/8", "a/16")
    assert interesting.marks == ("✓", "!")
    with pytest.raises(LearningError, match="none of 1 cases"):
        figure_12.FIGURE.draw(CASES[1:2], "box")
