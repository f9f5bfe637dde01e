"""Keys of the live view, and where they lead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.report.live_browsing import Browsing, keys_in

RUNS = [9, 5, 2]


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        (b"q", ["quit"]),
        (b"jk", ["down", "up"]),
        (b"\x1b[A\x1b[B", ["up", "down"]),
        (b"\x1bOA\x1bOB", ["up", "down"]),
        (b"\r", ["open"]),
        (b"\x1b", ["back"]),
        (b"x1\x00\xff", []),
        (b"\x1b[5~j", ["down"]),  # page up means nothing
        (b"\x1b[1;5Aq", ["quit"]),
        (b"\x1b[", []),
    ],
)
def test_keys_are_read_from_what_a_terminal_sends(typed: bytes, keys: list[str]) -> None:
    assert keys_in(typed) == keys


@given(st.binary(max_size=40))
def test_any_bytes_are_keys_or_nothing(typed: bytes) -> None:
    assert len(keys_in(typed)) <= len(typed)


def test_the_newest_run_is_selected_first_and_keys_move_between_runs() -> None:
    here = Browsing().among(RUNS)
    assert here.run == 9
    assert here.after("down", RUNS).run == 5
    assert here.after("up", RUNS).run == 9, "there is nothing above"
    assert here.after("down", RUNS).after("down", RUNS).after("down", RUNS).run == 2


def test_a_new_run_does_not_move_the_selection() -> None:
    assert Browsing(5).among([11, *RUNS]).run == 5


def test_where_the_selected_run_is_gone_the_newest_is_selected_and_its_threads_are_closed() -> None:
    assert Browsing(5, opened=True, row=3).among([9, 2]) == Browsing(9)
    assert Browsing(5, opened=True).among([]) == Browsing()
    assert Browsing().after("open", []) == Browsing()


def test_enter_opens_a_run_and_escape_closes_it() -> None:
    opened = Browsing(5).after("open", RUNS, 4)
    assert opened == Browsing(5, opened=True)
    moved = opened.after("down", RUNS, 4).after("down", RUNS, 4)
    assert moved.row == 2
    assert moved.among(RUNS, 2).row == 1, "threads have ended"
    assert moved.after("back", RUNS, 4) == Browsing(5)
