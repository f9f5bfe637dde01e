"""Tables of `paper_headlines.py`, of runs that are made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import paper_runs
import pytest
from script_module import script_module

from autofinity.model.mechanism_run import MechanismRun

type Unified = Callable[[object], Iterator[str]]
TIMES_S = {"os": 1.0, "oracle-trace": 0.736, "autofinity": 0.654, "kmaf16": 0.65, "unified": 0.655}


class MadeUp:
    """A study, and its runs on any machine: one program."""

    def __init__(self, times_s: Mapping[str, float]) -> None:
        self._times_s = times_s

    def on(self, machine: str) -> MadeUp:
        return self

    def programs(self, machine: str, mechanisms: Sequence[str]) -> tuple[str, ...]:
        assert self._times_s.keys() >= set(mechanisms)
        return ("ssor",)

    def has(self, name: str, mechanism: str) -> bool:
        return mechanism in self._times_s

    def run(self, name: str, mechanism: str) -> MechanismRun:
        return replace(paper_runs.RUN, time_s=self._times_s[mechanism])


@pytest.fixture
def unified() -> Unified:
    table: Unified = script_module("studies/paper_headlines.py").unified
    return table


@pytest.mark.parametrize(
    ("more_s", "share"),
    [
        ({"compact": 0.602}, "0.919"),
        ({"compact": 0.602, "oracle": 0.5}, "0.763"),
        ({"unified": 0.6}, "1.000"),
    ],
)
def test_a_share_is_of_the_fastest_run_kept(
    unified: Unified, more_s: Mapping[str, float], share: str
) -> None:
    """The papers' oracle is slower in each of them."""
    head, _, *rows = unified(MadeUp({**TIMES_S, **more_s}))
    column = head.split(" | ").index("of the fastest run kept")
    assert {row.split(" | ")[column] for row in rows} == {share}
