"""Runs that are made once more for the page of a comparison."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from autofinity.evaluation import watched_run
from autofinity.evaluation.comparison import MechanismCase
from autofinity.evaluation.watched_run import BeforeAfter
from autofinity.mechanisms.registry import pick
from autofinity.model.errors import SimulationError
from autofinity.workflow.compare import Asked, compared
from autofinity.workflow.compare_series import series_of
from autofinity.workflow.wanted import wanted_on

ENTRIES = pick(["kmaf16"])


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    work: Path = tmp_path_factory.mktemp("work")
    some = {"programs": ("prodcons", "pic"), "sizes": ("tiny",), "threads": (4,)}
    return Asked(wanted_on("opteron-6164he", **some, work=work), seeds=2, repeats=2, paper_s=60)


@pytest.fixture(scope="module")
def cases(asked: Asked) -> list[MechanismCase]:
    return compared(asked, ENTRIES)


def test_cases_are_in_one_order_whichever_run_ends_first(cases: list[MechanismCase]) -> None:
    mechanisms = [entry.name for entry in ENTRIES]
    programs = list(dict.fromkeys(each.program for each in cases))
    assert [(each.mechanism, each.program, each.seed) for each in cases] == list(
        product(mechanisms, programs, (1, 2))
    )


def test_the_runs_of_the_page_are_those_of_the_comparison(
    asked: Asked, cases: list[MechanismCase]
) -> None:
    series = series_of(asked, ENTRIES, cases)
    assert list(series) == ["kmaf16", "oracle"]
    run = {(each.program, each.mechanism, each.seed): each.run for each in cases}
    for mechanism, each in series.items():
        assert isinstance(each, BeforeAfter)
        assert each.before.run == run[each.program, "os", 1]
        assert not each.before.moved
        own = run[each.program, mechanism, 1]
        assert own is not None
        if mechanism == "kmaf16":
            assert each.after.run == own
        assert each.after.moved


def test_a_run_that_cannot_be_watched_has_the_reason(
    asked: Asked, cases: list[MechanismCase], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise SimulationError("no memory left")

    monkeypatch.setattr(watched_run, "watched_run", fails)
    assert set(series_of(asked, ENTRIES, cases).values()) == {"no memory left"}
