"""A run about which nothing was decided says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from run_record import run_record

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.policy import Decision
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.undecided import (
    NOT_AT_WORK,
    UNDECIDED,
    WAITED,
    reason_on_record,
    why_undecided,
)

WATCHED_NS = 3_000_000_000


@pytest.mark.parametrize(
    ("state", "promised", "said"),
    [
        ({}, 0, "fewer than two threads computed at once in the 3.0 s"),
        ({"most_computing": 1}, 4, "fewer than two threads computed at once"),
        ({"most_computing": 2}, 4, "4 threads were promised, and at most 2 computed at once"),
        ({"most_computing": 4, "notes": (WAITED,)}, 0, "it waited when it was sampled"),
        ({"most_computing": 4}, 4, "threads never stayed the same for long enough"),
        ({"phase": "settling"}, 0, "the program was watched for 3.0 s, and ended before"),
        ({"phase": "sampling"}, 0, "the program was watched for 3.0 s, and ended before"),
        ({"phase": "left alone", "notes": ("a", "left as it is: b")}, 0, "left as it is: b"),
        ({"phase": "left alone", "notes": (UNDECIDED + "c",)}, 0, "c"),
        ({"phase": "left alone"}, 0, "its threads were left alone"),
        ({"phase": "left alone", "notes": (UNDECIDED + "c", "8 promised, 6 compute")}, 0, "c"),
        ({"phase": "sampling", "notes": (UNDECIDED + NOT_AT_WORK,)}, 0, "the program was watched"),
        # its threads have changed since, which would have led to no decision either
        ({"most_computing": 4, "notes": (UNDECIDED + "no counters",)}, 4, "no counters"),
    ],
)
def test_the_monitor_says_what_was_missing(state: Any, promised: int, said: str) -> None:
    assert why_undecided(LiveState(waited_ns=WATCHED_NS, **state), promised).startswith(said)


@pytest.mark.parametrize(
    "state", [{"phase": "sampling"}, {"most_computing": 3}, {"most_computing": 4}], ids=str
)
def test_a_program_that_is_too_short_is_to_have_a_larger_input(state: Any) -> None:
    said = why_undecided(LiveState(waited_ns=WATCHED_NS, **state), 4)
    assert "the program was watched" in said
    assert said.endswith("; a larger input keeps threads at work for longer")


def test_what_was_decided_has_no_reason() -> None:
    assert why_undecided(LiveState(phase="placed"), 2) == ""
    decided = LiveState(phase="settling", decision=Decision(PACKED, None, 1.0, None))
    assert why_undecided(decided, 2) == ""


@pytest.mark.parametrize(
    ("changes", "alive", "said"),
    [
        ({"notes": f"other\n{UNDECIDED}why"}, False, "why"),
        ({"notes": f"{UNDECIDED}why", "hint": SPREAD}, False, "why"),  # of the sample's affinity
        ({"hint": PACKED}, False, ""),
        ({"bound": 4}, False, ""),
        ({"ended": None}, False, "its monitor ended before the program"),
        ({"notes": "first\nlast"}, False, "last"),
        ({}, False, "no reason was recorded"),
        ({"ended": None}, True, "its monitor is starting"),
        (
            {"ended": None, "phase": "watching"},
            True,
            "the program is watched until its threads compute",
        ),
        ({"ended": None, "phase": "sampling", "hint": SPREAD}, True, "threads are being"),
        ({"ended": None, "phase": "placed", "hint": SPREAD}, True, ""),
    ],
)
def test_the_record_always_has_a_reason(changes: Any, alive: bool, said: str) -> None:
    undecided = run_record(hint=None, bound=0, phase="")
    found = reason_on_record(replace(undecided, **changes), alive=alive)
    assert found.startswith(said)
    assert bool(found) == bool(said)
