"""The legend under the table of `evaluate` explains all that the table shows, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autofinity.evaluation.cases import Case, case_of
from autofinity.evaluation.times import Times
from autofinity.evaluation.verdict import verdict_of
from autofinity.model.affinity import PACKED, SPREAD, Affinity, Hint
from autofinity.model.observation import Workload
from autofinity.model.policy import Decision
from autofinity.report.evaluation_legend import legend, meanings
from autofinity.report.evaluation_table import mark, sentences, table

APART, PACK = Affinity.of([[1], [1]]), Affinity.of([[2]])
WORKLOAD = Workload("p", "small", 2)


def case(packed_s: float, hint: Hint, os_s: float | None = None) -> Case:
    baselines = {} if os_s is None else {WORKLOAD: {"os": os_s}}
    times = Times({WORKLOAD: {PACK: packed_s, APART: 1.0}}, baselines=baselines)
    decided = Decision(hint, 0, 1.0, None)
    return case_of(WORKLOAD, times, lambda each: APART if each.spread_sockets else PACK, decided)


@pytest.mark.parametrize(
    ("one", "sign"),
    [
        (case(2.0, SPREAD), "✓"),
        (case(2.0, PACKED), "!"),
        (case(1.1, PACKED), "·"),
    ],
)
def test_a_mark_is_explained_where_it_is_shown(one: Case, sign: str) -> None:
    assert mark(one) == sign
    signs = [line.split()[0] for line in legend([one], 12) if line.split()[0] in "✓!·"]
    assert signs == [sign]


@pytest.mark.parametrize("os_s", [None, 1.5])
def test_every_column_is_explained_by_its_heading(os_s: float | None) -> None:
    cases = [case(2.0, SPREAD, os_s)]
    lines = legend(cases, 12)
    headings = [str(column.header) for column in table(cases, "").columns]
    for heading in filter(None, headings[1:]):
        assert any(line.startswith(f"  {heading} ") for line in lines), heading
    assert any(line.startswith("  os ") for line in lines) == (os_s is not None)


def test_letters_of_hints_in_the_table_stand_beside_their_names() -> None:
    lines = legend([case(2.0, PACKED), case(1.1, SPREAD), case(2.0, SPREAD)], 12)
    at = lines.index("    SLP  spread")
    assert lines[at + 1] == "    slp  packed"
    assert "    slp  packed" not in legend([case(2.0, SPREAD)], 12)


@pytest.mark.parametrize("known", [False, True])
def test_words_of_sentences_are_explained_where_the_sentences_stand(known: bool) -> None:
    one = case(2.0, SPREAD)
    roi_s = {**one.roi_s, "one_period": 1.0, "in_run": 1.5} if known else one.roi_s
    lines = legend([replace(one, roi_s=roi_s)], 12)
    for word in ("sample period", "switched"):
        assert any(line.startswith(f"  {word} ") for line in lines) == known


@pytest.mark.parametrize("known", [False, True])
def test_a_page_explains_every_column_result_and_word(known: bool) -> None:
    one = case(2.0, SPREAD, 1.5)
    more = dict.fromkeys(("compact", "random", "one_period", "in_run"), 1.5) if known else {}
    found = meanings([replace(one, roi_s={**one.roi_s, **more})])
    assert {"packed", "spread", "OS", "chosen", "best hint", "oracle", "won", "–"} <= set(found)
    for word in ("compact", "random", "sample period", "switched"):
        assert (word in found) == known
    assert found["–"].startswith("packed and spread differ by less than 20%")
    assert not any("{" in text for text in found.values())


def test_the_number_of_placements_behind_the_oracle_is_named() -> None:
    assert any("the fastest of the 12 placements" in line for line in legend([case(2, PACKED)], 12))


def test_the_legend_says_which_policy_was_given_and_does_not_call_its_programs_unseen() -> None:
    given = legend([case(2, PACKED)], 12, "mine.json")
    assert any("a policy chose that was given: mine.json" in line for line in given)
    assert not any("learned without" in line for line in given)
    assert any("learned without the program" in line for line in legend([case(2, PACKED)], 12))


@pytest.mark.parametrize(("packed_s", "won"), [(2.0, "1 of 1 interesting cases won"), (1.1, "")])
def test_nothing_is_won_where_no_case_is_interesting(packed_s: float, won: str) -> None:
    said = "\n".join(sentences(verdict_of([case(packed_s, SPREAD)])))
    assert "0 of 0" not in said
    assert (won or "no interesting case, ") in said
