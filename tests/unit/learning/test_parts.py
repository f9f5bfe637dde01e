"""Bins, condense functions, metrics, periods, selection without WEKA, splits."""

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed import observation

from autofinity.learning.cfs import correlations, greedy_ranking
from autofinity.learning.condense import condense
from autofinity.learning.counter_selection import choose_counters
from autofinity.learning.discretise import bin_of, equal_frequency, equal_width
from autofinity.learning.discretiser import Discretiser, cuts_of
from autofinity.learning.metric import insensitive_workloads, normalised, performance_of
from autofinity.learning.periods import Periods
from autofinity.learning.settings import CONDENSE, METHODS, Condense, LearningSettings
from autofinity.model.affinity import Affinity
from autofinity.model.counters import Behaviour
from autofinity.model.errors import LearningError, UsageError
from autofinity.model.observation import Observation
from autofinity.store.observations import table_of


def row(
    program: str = "a", affinity: str = "{2}", sample: int = 0, **changes: object
) -> Observation:
    base = observation(
        program=program,
        affinity=Affinity.parse(affinity),
        sample=sample,
        progress=(sample + 0.5) / 4,
        behaviour=Behaviour({"x": float(sample)}),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def test_bins_are_open_below_and_closed_above() -> None:
    cuts = (1.0, 2.0)
    values = [-math.inf, 1.0, math.nextafter(1.0, 2.0), 2.0, math.nextafter(2.0, 3.0), math.inf]
    assert bin_of(np.array([*values, math.nan]), cuts).tolist() == [0, 0, 1, 1, 2, 2, -1]


def test_two_clumps_are_told_apart_unless_empty_bins_are_refused_as_weka_does() -> None:
    two_clumps = np.concatenate([np.linspace(0.0, 0.2, 50), np.linspace(0.8, 1.0, 50)])
    assert any(0.2 < cut < 0.8 for cut in equal_width(two_clumps, 5))
    assert equal_width(two_clumps, 5, "weka-corrected") == ()


def test_evenly_spread_values_are_not_cut_by_entropy_but_by_a_fixed_number() -> None:
    even = np.linspace(0.0, 1.0, 1001)
    assert equal_width(even, 4, "fixed") == (0.25, 0.5, 0.75)
    assert equal_width(even, 4) == ()


def test_a_bin_with_a_single_value_is_refused() -> None:
    outlier = np.concatenate([np.random.default_rng(2).normal(size=500), [50.0]])
    assert equal_width(outlier, 5) == ()
    assert len(equal_width(outlier, 5, "fixed")) == 4


def test_the_faithful_fault_cuts_with_the_width_of_the_last_number_tried() -> None:
    values = np.concatenate([np.linspace(0.0, 1.0, 60), [9.9, 10.0]])
    assert equal_width(values, 9, "weka-corrected") == pytest.approx((5.0,))
    assert equal_width(values, 9, "weka") == pytest.approx((10 / 9,))


def test_values_that_are_all_equal_are_not_cut() -> None:
    same = np.full(9, 3.0)
    assert equal_width(same, 5) == equal_frequency(same, 5) == ()


def test_equal_frequency_fills_bins_evenly() -> None:
    values = np.random.default_rng(1).exponential(size=1000)
    cuts = equal_frequency(values, 5)
    assert np.bincount(bin_of(values, cuts)).tolist() == [200] * 5


def test_missing_and_infinite_values_do_not_move_cuts() -> None:
    values = np.random.default_rng(1).normal(size=200)
    dirty = np.concatenate([values, [math.nan, math.inf, -math.inf]])
    for method in METHODS:
        bins = Discretiser(method=method, bins=5)
        (cuts,) = cuts_of({"x": dirty}, np.ones(203), bins).values()
        assert cuts == cuts_of({"x": values}, np.ones(200), bins)["x"]
    assert cuts_of({"x": np.empty(0)}, np.empty(0), Discretiser()) == {"x": ()}


@given(
    st.lists(st.lists(st.floats(0.01, 100), min_size=1, max_size=9), min_size=1, max_size=5),
    st.sampled_from(CONDENSE),
)
def test_condense_functions_are_what_their_names_say(
    groups: list[list[float]], function: Condense
) -> None:
    plain = {
        "median": statistics.median,
        "mean": statistics.fmean,
        "gmean": statistics.geometric_mean,
        "hmean": statistics.harmonic_mean,
        "max": max,
        "min": min,
        "sum": math.fsum,
    }[function]
    sizes = [len(group) for group in groups]
    starts = np.cumsum([0, *sizes[:-1]])
    got = condense(function, np.array([v for group in groups for v in group]), starts)
    np.testing.assert_allclose(got, [plain(group) for group in groups], rtol=1e-9)
    if function not in ("gmean", "hmean"):
        negative = condense(function, np.array([-v for group in groups for v in group]), starts)
        assert (negative < 0).all()


def test_means_of_negative_metrics_keep_their_order() -> None:
    values, starts = np.array([-2.0, -8.0, -4.0, -16.0]), np.array([0, 2])
    np.testing.assert_allclose(condense("gmean", values, starts), [-4.0, -8.0])
    np.testing.assert_allclose(condense("hmean", values, starts), [-3.2, -6.4])


def test_a_mean_of_both_signs_is_refused_where_it_has_no_meaning() -> None:
    with pytest.raises(LearningError, match="one sign"):
        condense("gmean", np.array([-1.0, 1.0]), np.array([0]))


def test_performance_is_normalised_to_the_smallest_of_the_program() -> None:
    performance = np.array([2.0, 3.0, 0.0, 10.0, 40.0])
    assert normalised(performance, np.array([0, 0, 0, 1, 1])).tolist() == [1.0, 1.5, 0.0, 1.0, 4.0]
    worse_to_better = normalised(np.array([-20.0, -10.0]), np.array([0, 0]))
    assert worse_to_better.tolist() == [-2.0, -1.0]


def test_a_metric_without_its_column_says_which_one_is_missing() -> None:
    table = table_of([row()])
    for metric, column in (("throughput", "useful_work"), ("-energy-delay", "energy_j")):
        with pytest.raises(LearningError, match=column):
            performance_of(table, metric, "periods")  # type: ignore[arg-type]


def test_the_throughput_of_whole_runs_is_their_speed_whatever_they_report() -> None:
    table = table_of([row(roi_s=2.0), row(roi_s=4.0, affinity="{1}{1}")])
    throughput = performance_of(table, "throughput", "runs")
    assert sorted(throughput) == [0.25, 0.5]
    assert (throughput == performance_of(table, "speed", "runs")).all()


def test_every_metric_is_larger_when_better() -> None:
    good = row(roi_s=1.0, behaviour=Behaviour({"useful_work": 9.0}), performance=2.0, energy_j=1.0)
    poor = row(
        roi_s=3.0,
        behaviour=Behaviour({"useful_work": 1.0}),
        performance=1.0,
        energy_j=5.0,
        affinity="{1}{1}",
    )
    table = table_of([poor, good])
    best = table.affinity.names.index("{2}")
    for metric in ("ipc", "speed", "throughput", "-energy", "-energy-delay"):
        for labels in ("periods", "runs"):
            values = performance_of(table, metric, labels)  # type: ignore[arg-type]
            assert table.affinity.codes[int(np.argmax(values))] == best, (metric, labels)


def test_programs_that_vary_by_less_than_one_percent_are_insensitive() -> None:
    rows = [row("steady", "{2}", roi_s=1.0), row("steady", "{1}{1}", roi_s=1.01)]
    rows += [row("moved", "{2}", roi_s=1.0), row("moved", "{1}{1}", roi_s=1.05)]
    rows += [row("alone", "{2}", roi_s=1.0)]
    assert sorted(insensitive_workloads(table_of(rows)).values()) == [
        "alone (small, 2 threads)",
        "steady (small, 2 threads)",
    ]


def test_seeds_of_one_affinity_do_not_make_a_program_sensitive() -> None:
    rows = [
        row(affinity=a, seed=s, roi_s=t) for s, t in ((1, 1.0), (2, 2.0)) for a in ("{2}", "{1}{1}")
    ]
    assert len(insensitive_workloads(table_of(rows))) == 1


def test_periods_match_by_progress_in_the_simulator_and_by_index_elsewhere() -> None:
    slow = [row("a", "{2}", i, progress=p) for i, p in enumerate((0.1, 0.4, 0.6, 0.9))]
    fast = [row("a", "{1}{1}", i, progress=p) for i, p in enumerate((0.2, 0.7))]
    table = table_of(slow + fast)
    other = table.affinity.names.index("{1}{1}")
    rows = np.flatnonzero(table.affinity.codes != other)
    assert table.sample[Periods(table).find(rows, other)].tolist() == [0, 0, 1, 1]
    real = table_of([replace(o, backend="linux") for o in slow + fast])
    found = Periods(real).find(rows, other)
    assert [int(real.sample[f]) if f >= 0 else None for f in found] == [0, 1, None, None]


def test_periods_have_any_numbers_and_match_within_their_program_only() -> None:
    rows = [
        row(program, affinity, sample, backend="linux")
        for program in ("a", "b")
        for affinity in ("{1}{1}", "{2}")
        for sample in (-2, -1, 0)
    ]
    table = table_of(rows)
    for code in range(2):
        found = Periods(table).find(np.arange(len(table)), code)
        assert table.sample[found].tolist() == table.sample.tolist()
        assert table.program.codes[found].tolist() == table.program.codes.tolist()
        assert set(table.affinity.codes[found].tolist()) == {code}


def test_progress_that_was_not_recorded_is_not_matched_by() -> None:
    assert Periods(table_of([row()])).by_progress
    assert not Periods(table_of([row(progress=math.nan)])).by_progress


def test_the_ranking_prefers_a_counter_that_adds_to_one_that_repeats() -> None:
    draw = np.random.default_rng(4)
    a, b = draw.normal(size=(2, 2000))
    target = a + b
    values = np.column_stack([a, a + 0.01 * draw.normal(size=2000), b, draw.normal(size=2000)])
    order = [i for i, _ in greedy_ranking(*correlations(values, target), np.ones(4))]
    assert {order[0], order[1]} in ({0, 2}, {1, 2})
    assert order[-1] == 3 or order[2] in (0, 1)


def test_the_report_says_where_the_search_alone_would_have_stopped() -> None:
    draw = np.random.default_rng(4)
    rows = []
    for i in range(200):
        good, noise = draw.normal(size=2)
        values = Behaviour({"good": 1e9 * good, "noise": noise, "same": 7.0, "half": math.nan})
        rows.append(row(sample=i, behaviour=values, performance=float(good)))
    table = table_of(rows)
    report = choose_counters(table, table.performance, 2)
    assert report.chosen == ("good", "noise")
    assert report.stopped_at == 1
    assert "stopped after 1" in report.note
    assert set(report.left_out) == {"same", "half"}


def test_no_varying_counter_is_an_error_that_says_so() -> None:
    table = table_of([row(), row(sample=1, behaviour=Behaviour({"x": 0.0}))])
    with pytest.raises(LearningError, match="none of 1 varies"):
        choose_counters(table, table.performance, 4)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("metric", "mips"),
        ("condense", "mode"),
        ("bins", 0),
        ("bins", 40),
        ("leeway", -1),
        ("counters", ("x", "x")),
    ],
)
def test_settings_that_cannot_be_are_refused(field: str, value: object) -> None:
    with pytest.raises(UsageError, match=str(field)):
        LearningSettings(**{field: value})  # type: ignore[arg-type]
