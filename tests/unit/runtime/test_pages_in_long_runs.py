"""Pages that have followed threads, in runs that go on for long: in continuous mode, and where
threads come and go.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from program_with_pages import MACHINE, PAGE_BYTES, POLICY, Program, S

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.policy.selector import decide
from autofinity.ports import Interval, ThreadEvent
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.loop import run_loop
from autofinity.runtime.pages_follow import PagesFollow

ALL_BYTES = 4096 * PAGE_BYTES


class Watched(Program):
    """A program of 8 GiB that is faster packed, and with near pages, from the start on."""

    takes_turns_s = 0
    """Two threads rest in every second stretch of so many seconds."""
    alone_from_s = float("inf")
    """From when on all threads but one have ended."""
    spreads_from_s = float("inf")
    """From when on it is faster spread."""
    gain = 0.9
    """By near pages."""

    def __init__(self, seconds: float) -> None:
        super().__init__(near=1.25, far=0.75, pages=ALL_BYTES // PAGE_BYTES, seconds=seconds)
        self.looks: list[Interval] = []

    def rests(self, number: int, at_ns: int) -> bool:
        turns = self.takes_turns_s
        return bool(turns) and number < 2 and (at_ns // S // turns) % 2 == 1

    @property
    def speed(self) -> float:
        late = self.now_ns >= self.spreads_from_s * S
        if self.packed_on is None:
            return 3.0 if late else 1.0
        node = self.seats[-1] // 8
        return (0.9 if late else 1.5) - self.gain * (1 - self.on.count(node) / len(self.on))

    def advance(self, duration_ns: int) -> Interval:
        look = super().advance(duration_ns)
        if look.start_ns >= self.alone_from_s * S:
            first = not any(
                event.kind == "end" for each in self.looks for event in each.thread_events
            )
            ended = [ThreadEvent("end", n, 100 + n, look.start_ns) for n in (1, 2, 3) if first]
            look = replace(
                look, samples=look.samples[:1], thread_events=tuple(ended), cpus=look.cpus[:1]
            )
        self.looks.append(look)
        return look


def watched(program: Program, every_s: int = 0) -> tuple[LiveState, list[str]]:
    """The last state of the run, and the lines that were said."""
    settings = Settings(threads=4, every_ns=every_s * S)
    mechanism = LivePolicy(
        MACHINE, POLICY, decide, lambda: MACHINE.allowed, lambda threads: None, settings
    )
    mechanism.sees_memory(program.memory)
    lines: list[str] = []
    follow = PagesFollow(program, MACHINE, lines.append)
    start = mechanism.begin(MACHINE, MACHINE.allowed, 4)
    return run_loop(program, mechanism, start, mechanism.period_ns, follow), lines


def test_threads_stay_with_pages_that_followed_them_where_fewer_compute_for_a_while() -> None:
    program = Watched(seconds=700)
    program.takes_turns_s = 100
    watched(program)
    assert sum(size for _, size in program.moved) == ALL_BYTES // 2


@pytest.mark.parametrize("every_s", [1, 2, 10, 60])
def test_pages_that_move_are_no_change_of_the_program(every_s: int) -> None:
    program = Watched(seconds=500)
    state, _ = watched(program, every_s)
    assert state.placed.hint == PACKED
    assert not any("has changed" in note for note in state.notes)
    assert sum(size for _, size in program.moved) == ALL_BYTES // 2
    assert program.moved[-1][0] - program.moved[0][0] < 30


@pytest.mark.parametrize("every_s", [0, 2, 10, 60])
def test_a_part_is_tried_first_in_continuous_mode_too(every_s: int) -> None:
    program = Watched(seconds=150)
    program.gain = 0.0
    _, lines = watched(program, every_s)
    assert any(line.startswith("one in 8 of these pages was moved") for line in lines)


@pytest.mark.parametrize("every_s", [0, 60])
def test_looks_are_no_shorter_for_pages_that_no_longer_move(every_s: int) -> None:
    """All threads but one end while pages are under way."""
    program = Watched(seconds=60)
    watched(program, every_s)
    program, moves_s = Watched(seconds=400), program.moved
    program.alone_from_s = (moves_s[0][0] + moves_s[-1][0]) / 2 if moves_s else 130.0
    watched(program, every_s)
    late = [look for look in program.looks if look.start_ns >= 200 * S]
    assert len(late) <= 200 // max(1, every_s) + 1


def test_memory_that_followed_threads_is_not_said_to_be_initialised_by_one() -> None:
    program = Watched(seconds=900)
    program.spreads_from_s = 150
    state, lines = watched(program, every_s=2)
    assert state.placed.hint == SPREAD
    (line,) = (line for line in lines if "nearly all of its memory" in line)
    assert "to which it followed threads" in line
    assert "interleave" not in line
