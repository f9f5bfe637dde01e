"""Numbers of a program's threads, look by look."""

from __future__ import annotations

import time

import pytest

from autofinity.linux import thread_roll
from autofinity.linux.proc import Task
from autofinity.linux.thread_roll import ThreadRoll
from autofinity.model.topology import OsIndex

PID = 1 << 22  # no process has it


def shows(monkeypatch: pytest.MonkeyPatch, *tids: int) -> None:
    """Let /proc show these threads, each begun at the tick of its tid."""
    tasks = [Task(tid, PID, "worker", tid, 0, 0, OsIndex(0)) for tid in tids]
    monkeypatch.setattr(thread_roll, "family_of", lambda pid, without: [pid])
    monkeypatch.setattr(thread_roll, "tasks_of", lambda pid: tasks)


def test_the_number_of_a_thread_that_ended_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    roll = ThreadRoll(PID)
    shows(monkeypatch, 10, 11, 12, 13)
    roll.look(0)
    assert roll.numbers == {10: 0, 11: 1, 12: 2, 13: 3}
    shows(monkeypatch, 10, 12, 14, 15, 16)
    events = roll.look(1)
    assert roll.numbers == {10: 0, 14: 1, 12: 2, 15: 3, 16: 4}
    assert [(event.kind, event.thread) for event in events] == [
        *(("end", 1), ("end", 3)),
        *(("begin", 1), ("begin", 3), ("begin", 4)),
    ]


def test_a_fork_is_no_growth_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {PID: 10_000}

    def family(pid: int, without: frozenset[int]) -> list[int]:
        return list(held)

    monkeypatch.setattr(thread_roll, "family_of", family)
    monkeypatch.setattr(thread_roll, "tasks_of", lambda pid: [])
    monkeypatch.setattr(thread_roll, "resident_bytes_of", lambda pid: held.get(pid, 0))
    roll = ThreadRoll(PID)
    seen = []
    for second, change in enumerate(
        (
            {},
            {PID + 1: 10_000},  # a child that shares all pages with its parent
            {PID + 1: 10_300},  # it touches new ones
            {PID: 10_200},
        )
    ):
        held |= change
        roll.look(second * 1_000_000_000)
        seen.append(roll.resident_bytes)
    assert seen == [10_000, 10_000, 10_300, 10_500]
    held[PID + 1] = 0  # it has ended
    roll.look(4_000_000_000)
    assert roll.resident_bytes == 10_500


def test_many_thousand_threads_are_numbered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("switches_of", "times_of"):
        monkeypatch.setattr(thread_roll, name, lambda task: (0, 0))
    roll = ThreadRoll(PID)
    shows(monkeypatch, *range(16_000))
    before = time.process_time()
    roll.look(0)
    assert time.process_time() - before < 3.0  # 0.1 s; with a search for each thread 11 s
    assert roll.numbers == {tid: tid for tid in range(16_000)}
