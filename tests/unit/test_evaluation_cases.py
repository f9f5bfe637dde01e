import math

import pytest

from autofinity.evaluation.cases import case_of, summarise
from autofinity.evaluation.times import Subject, Times
from autofinity.model.affinity import DISTRIBUTED, PACKED, Affinity, Hint
from autofinity.model.policy import Decision

SPREAD = Affinity.of([[1], [1]])
PACK = Affinity.of([[2]])
MIDDLE = Affinity.of([[1, 1]])


def match(hint: Hint) -> Affinity:
    return SPREAD if hint.spread_sockets else PACK


def case(packed: float, distributed: float, choice: Hint, middle: float = 9.0):
    subject = Subject("p", "small", 2)
    times = Times({subject: {PACK: packed, SPREAD: distributed, MIDDLE: middle}})
    return case_of(subject, times, match, Decision(choice, 0, 1.0, None))


def test_a_case_is_interesting_from_a_fifth_of_the_faster_one_on() -> None:
    assert case(10.0, 12.0, PACKED).interesting
    assert not case(10.0, 11.99, PACKED).interesting


def test_a_win_is_within_one_percent_of_the_better_static_choice() -> None:
    assert case(1.0, 2.0, PACKED).win
    assert not case(1.0, 2.0, DISTRIBUTED).win
    assert case(1.0, 1.01, DISTRIBUTED).win


def test_the_oracle_is_the_best_of_all_affinities_not_of_the_hints() -> None:
    found = case(1.0, 2.0, PACKED, middle=0.5)
    assert found.roi_s["oracle"] == 0.5
    assert found.roi_s["best_hint"] == 1.0
    assert found.against("oracle") == pytest.approx(0.5)


def test_the_summary_counts_wins_among_interesting_cases_only() -> None:
    cases = [case(1.0, 2.0, PACKED), case(1.0, 2.0, DISTRIBUTED), case(1.0, 1.05, DISTRIBUTED)]
    summary = summarise(cases)
    assert (summary.cases, summary.interesting, summary.wins) == (3, 2, 1)
    assert summary.regret_max == pytest.approx(1.0)
    assert summary.best_hint_ratio == pytest.approx((1 * 0.5 * (1 / 1.05)) ** (1 / 3))


def test_nothing_judged_gives_nan_not_a_crash() -> None:
    assert math.isnan(summarise([]).oracle_ratio)
