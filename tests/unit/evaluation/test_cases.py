import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from observed import observation

from autofinity.evaluation.bootstrap import intervals
from autofinity.evaluation.cases import Case, case_of, summarise
from autofinity.evaluation.times import Times, times_of
from autofinity.evaluation.verdict import verdict_of
from autofinity.model.affinity import PACKED, SPREAD, UNPLACED, Affinity, Hint
from autofinity.model.observation import Observation, PlacedBy, Workload
from autofinity.model.policy import Decision
from autofinity.report.evaluation_table import sentences
from autofinity.store.observations import table_of

APART = Affinity.of([[1], [1]])
PACK = Affinity.of([[2]])
MIDDLE = Affinity.of([[1, 1]])


WORKLOAD = Workload("p", "small", 2)


def match(hint: Hint) -> Affinity:
    return APART if hint.spread_sockets else PACK


def case(packed: float, spread: float, choice: Hint, middle: float = 9.0):
    workload = Workload("p", "small", 2)
    times = Times({workload: {PACK: packed, APART: spread, MIDDLE: middle}})
    return case_of(workload, times, match, Decision(choice, 0, 1.0, None))


def test_cc13_section_3_6_a_case_is_interesting_from_a_fifth_of_the_faster_one_on() -> None:
    assert case(10.0, 12.0, PACKED).interesting
    assert not case(10.0, 11.99, PACKED).interesting


def test_cc13_section_3_6_a_win_is_within_one_percent_of_the_better_static_choice() -> None:
    assert case(1.0, 2.0, PACKED).win
    assert not case(1.0, 2.0, SPREAD).win
    assert case(1.0, 1.01, SPREAD).win


def test_the_oracle_is_the_best_of_all_affinities_not_of_the_hints() -> None:
    found = case(1.0, 2.0, PACKED, middle=0.5)
    assert found.roi_s["oracle"] == 0.5
    assert found.roi_s["best_hint"] == 1.0
    assert found.against("oracle") == pytest.approx(0.5)


def test_the_summary_counts_wins_among_interesting_cases_only() -> None:
    cases = [case(1.0, 2.0, PACKED), case(1.0, 2.0, SPREAD), case(1.0, 1.05, SPREAD)]
    summary = summarise(cases)
    assert (summary.cases, summary.interesting, summary.wins) == (3, 2, 1)
    assert summary.regret_max == pytest.approx(1.0)
    assert summary.best_hint_ratio == pytest.approx((1 * 0.5 * (1 / 1.05)) ** (1 / 3))


def test_nothing_judged_gives_nan_not_a_crash() -> None:
    assert math.isnan(summarise([]).oracle_ratio)


def test_baselines_are_geometric_means_over_seeds_and_no_oracle() -> None:
    def run(placement: PlacedBy, affinity: Affinity, seed: int, roi_s: float) -> Observation:
        return observation(placement=placement, affinity=affinity, seed=seed, roi_s=roi_s)

    times = times_of(
        table_of(
            [
                run("affinity", PACK, 1, 2.0),
                run("affinity", APART, 1, 3.0),
                run("switched", PACK, 1, 2.5),
                run("os", UNPLACED, 1, 1.0),
                run("os", UNPLACED, 2, 4.0),
                run("random", PACK, 1, 1.0),
                run("random", APART, 2, 9.0),
            ]
        )
    )
    found = case_of(WORKLOAD, times, match, Decision(PACKED, 0, 1.0, None), in_run_s=2.5)
    assert found.roi_s["os"] == pytest.approx(2.0)
    assert found.roi_s["random"] == pytest.approx(3.0)
    assert "compact" not in found.roi_s
    assert found.roi_s["oracle"] == 2.0
    assert times.switched[WORKLOAD] == {PACK: 2.5}
    summary = summarise([found])
    assert summary.worst_vs_os == pytest.approx(0.0)
    assert summary.ratios["random"] == pytest.approx(1.5)
    assert math.isnan(summary.ratios["compact"])
    assert summarise([found.by("in_run")]).ratios["packed"] == pytest.approx(0.8)


def test_energy_is_judged_by_the_same_choice_and_its_own_best() -> None:
    table = table_of(
        [
            observation(affinity=PACK, roi_s=1.0, energy_j=5.0),
            observation(affinity=APART, roi_s=2.0, energy_j=4.0),
        ]
    )
    found = case_of(
        WORKLOAD,
        times_of(table),
        match,
        Decision(PACKED, 0, 1.0, None),
        energy=times_of(table, "energy_j"),
    )
    assert summarise([found]).best_hint_ratio == 1.0
    assert summarise([found.in_energy()]).best_hint_ratio == pytest.approx(0.8)


def test_intervals_draw_whole_programs() -> None:
    """Three programs, two won at all thread counts, one lost: samples win by whole thirds."""
    cases = [
        replace(case(1.0, 2.0, hint), workload=Workload(program, "small", threads))
        for program, hint in (("won", PACKED), ("also won", PACKED), ("lost", SPREAD))
        for threads in (4, 8, 16)
    ]
    seen: set[float] = set()

    def share(some: Sequence[Case]) -> dict[str, float]:
        seen.add(sum(each.win for each in some) / len(some))
        return {"share": sum(each.win for each in some) / len(some), "never": math.nan}

    assert intervals(cases, share) == {"share": (0.0, 1.0)}
    assert seen == {0.0, 3 / 9, 6 / 9, 1.0}
    assert intervals(cases[3:], share) == {}  # two programs: no interval


def test_the_verdict_says_of_switched_runs_only_when_all_are_known() -> None:
    known = replace(case(1.0, 2.0, PACKED), roi_s={**case(1.0, 2.0, PACKED).roi_s, "in_run": 1.5})
    verdict = verdict_of([known])
    assert verdict.in_run is not None
    assert verdict.in_run.oracle_ratio == pytest.approx(1 / 1.5)
    assert verdict.hints.best_hint_ratio == 1.0
    assert verdict.in_run_missing == ()
    unknown = case(1.0, 2.0, PACKED)
    partly = verdict_of([known, unknown])
    assert partly.in_run is not None
    assert (partly.in_run.cases, partly.in_run_missing) == (1, (unknown,))
    said = sentences(partly)
    assert "  no interval: fewer than 3 programs" in said
    assert any(line.startswith("switched while it ran, all charged") for line in said)
    assert any(
        f"is on record in 1 of 2 cases: {unknown.workload.program} with" in line for line in said
    )
    assert any("cases that stay in place weigh more in 'switched'" in line for line in said)
    many = verdict_of([known, *[unknown] * 6])
    assert any("and 2 more, which --json names" in line for line in sentences(many))
    none = verdict_of([unknown])
    assert none.in_run is None
    assert any("is on record in 1 of 1 cases" in line for line in sentences(none))
    assert not any("weigh more" in line for line in sentences(none))
