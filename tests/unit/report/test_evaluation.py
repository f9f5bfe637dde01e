"""The table that `evaluate` prints."""

from __future__ import annotations

from autofinity.evaluation.cases import Case, case_of
from autofinity.evaluation.times import Times
from autofinity.evaluation.verdict import verdict_of
from autofinity.model.affinity import SPREAD, Affinity
from autofinity.model.observation import Workload
from autofinity.model.policy import Decision
from autofinity.report.evaluation_table import sentences, table

APART, PACK = Affinity.of([[1], [1]]), Affinity.of([[2]])
WORKLOAD = Workload("p", "small", 2)


def case(os_s: float | None) -> Case:
    baselines = {} if os_s is None else {WORKLOAD: {"os": os_s}}
    times = Times({WORKLOAD: {PACK: 2.0, APART: 1.0}}, baselines=baselines)
    decided = Decision(SPREAD, 0, 1.0, None)
    return case_of(WORKLOAD, times, lambda hint: APART if hint.spread_sockets else PACK, decided)


def test_a_column_is_shown_where_one_case_knows_it_and_left_out_where_none_does() -> None:
    def headings(*cases: Case) -> list[str]:
        return [str(column.header) for column in table(cases, "").columns]

    assert "os" in headings(case(None), case(1.5))
    assert "os" not in headings(case(None))
    assert "oracle" in headings(case(None))


def test_every_row_is_as_wide_as_the_headings() -> None:
    made = table([case(None), case(1.5)], "")
    assert [list(column.cells) for column in made.columns if column.header == "os"] == [
        ["", "1500"]
    ]


def test_a_loss_against_the_operating_system_is_said_in_words_and_not_by_a_sign() -> None:
    def said(os_s: float | None) -> str:
        return "\n".join(sentences(verdict_of([case(os_s)])))

    assert "at worst 25.00% slower than os" in said(0.8)
    assert "never slower than os" in said(1.5)
    assert "slower than os" not in said(None)
