"""Several processes may want the same trace at the same time: they take turns."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from autofinity.capture.trace_folder import trace_folder
from autofinity.model.errors import CaptureError


def test_who_makes_a_trace_is_not_disturbed_by_another_who_wants_it(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with trace_folder(tmp_path, "a", "a") as folder:
            order.append("second")
            assert list(folder.iterdir()) == []

    other = threading.Thread(target=second)
    with trace_folder(tmp_path, "a", "a") as folder:
        (folder / "events").write_text("half")
        other.start()
        time.sleep(0.3)  # long enough for the other one to come and do harm
        assert (folder / "events").read_text() == "half"
        folder.rename(tmp_path / "a")
        order.append("first")
    other.join()
    assert order == ["first", "second"]
    assert (tmp_path / "a" / "events").read_text() == "half"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_who_has_kept_a_trace_leaves_the_next_one_alone(tmp_path: Path) -> None:
    with ExitStack() as next_one:
        with trace_folder(tmp_path, "a", "a") as folder:
            folder.rename(tmp_path / "a")
            later = next_one.enter_context(trace_folder(tmp_path, "a", "a"))
            (later / "events").write_text("half")
        assert (later / "events").read_text() == "half"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".a.partial" / "work").mkdir(parents=True)
    (tmp_path / ".a.partial" / "events").touch()
    with trace_folder(tmp_path, "a", "a") as folder:
        assert list(folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_is_said_and_kept(tmp_path: Path) -> None:
    (tmp_path / ".a.partial").write_text("mine")
    with (
        pytest.raises(CaptureError, match="cannot keep the trace of a"),
        trace_folder(tmp_path, "a", "a"),
    ):
        pass
    assert (tmp_path / ".a.partial").read_text() == "mine"
