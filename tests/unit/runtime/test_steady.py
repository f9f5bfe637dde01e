"""Nothing is decided while a program still initialises, nor for longer than it does."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from told_looks import LOOK_NS, at_phase, interval, look

from autofinity.runtime.steady import Onset

MB = 1e6
SETUP = 100 * MB  # new memory a look
SORTING, MERGING = at_phase(4), at_phase(35, loads=0.118)


def after(
    new_bytes: Iterable[float],
    phases: Iterable[dict[str, float]] | None = None,
    *,
    resident: bool = False,
) -> list[Onset]:
    """The onset after each look."""
    found, onset, held, now = [], Onset(), 0.0, 0
    all_new = list(new_bytes)
    for fresh, values in zip(all_new, phases or [MERGING] * len(all_new), strict=True):
        held += fresh
        seen = interval(now, fresh, values, resident_bytes=held if resident else float("nan"))
        onset = onset.after(seen, look(values))
        found.append(onset)
        now += LOOK_NS
    return found


def looks_until_steady(stages: list[Onset]) -> int:
    """How many looks it took."""
    return 1 + [onset.stage for onset in stages].index("steady")


@pytest.mark.parametrize("resident", [False, True], ids=["faults", "resident size"])
@pytest.mark.parametrize("setup_looks", [1, 3, 30, 200])
def test_the_end_of_a_set_up_is_found_two_looks_after_it(resident: bool, setup_looks: int) -> None:
    stages = after([SETUP] * setup_looks + [0.0] * 20, resident=resident)
    # Resident size before the first look is not known: faults show the size, too.
    assert looks_until_steady(stages) == setup_looks + 2


def test_a_program_that_starts_steady_waits_for_two_looks() -> None:
    assert looks_until_steady(after([0.0] * 5)) == 2
    little = 0.5 * MB  # a look: a server's requests
    assert looks_until_steady(after([little] * 5)) == 2


def test_a_set_up_that_slows_down_is_over_when_it_is_a_twentieth_of_what_it_was() -> None:
    falling = [SETUP * 0.8**n for n in range(60)]
    took = looks_until_steady(after(falling))
    assert falling[took - 1] <= max(0.05 * SETUP, 2 * MB) < falling[took - 3]


def test_a_program_that_waits_for_its_input_does_not_set_up_meanwhile() -> None:
    onset = Onset()
    for number in range(400):
        waits = interval(number * LOOK_NS, 0.0, used_ns=(0, 0))
        onset = onset.after(waits, look(MERGING))
    onset = onset.after(interval(400 * LOOK_NS, SETUP, SORTING), look(SORTING))
    assert onset.stage == "setting up"


def test_a_pause_within_a_set_up_is_not_its_end() -> None:
    assert looks_until_steady(after(([SETUP] * 5 + [0.0]) * 4 + [0.0] * 9)) == 25


def test_a_program_that_allocates_for_ever_is_sampled_after_half_a_minute() -> None:
    stages = after([SETUP] * 400)
    assert [onset.stage for onset in stages[:299]] == ["setting up"] * 299
    assert stages[-1].stage == "growing for ever"


def test_growth_that_ends_after_all_is_seen() -> None:
    assert after([SETUP] * 400 + [0.0] * 2)[-1].stage == "steady"


def test_a_program_that_gives_memory_back_and_takes_it_again_is_not_setting_up() -> None:
    """It faults for ever; where the resident size is known it shows that nothing is new."""
    onset = Onset()
    for number in range(4):
        seen = interval(number * LOOK_NS, SETUP, MERGING, resident_bytes=50 * MB)
        onset = onset.after(seen, look(MERGING))
    assert onset.stage == "steady"


def test_another_phase_right_after_the_set_up_is_waited_for_briefly() -> None:
    changing = [SORTING, MERGING] * 10
    stages = after([0.0] * 20, changing)
    assert [onset.stage for onset in stages[1:9]] == ["changing"] * 8
    assert looks_until_steady(stages) == 10  # a second
    calms_down = [SORTING, MERGING, MERGING, MERGING]
    assert looks_until_steady(after([0.0] * 4, calms_down)) == 3


def test_what_nothing_tells_is_steady() -> None:
    onset = Onset()
    for number in range(2):
        onset = onset.after(interval(number * LOOK_NS, 0.0), look({}))
    assert onset.stage == "steady"


def test_a_look_without_cpu_time_shows_nothing() -> None:
    onset = after([SETUP] * 3)[-1]
    asleep = interval(3 * LOOK_NS, 0.0, used_ns=(0, 0))
    assert onset.after(asleep, look({})).quiet == 0


def test_a_look_of_hardly_any_cpu_time_does_not_make_the_set_up_seem_slow() -> None:
    """An exec brings megabytes within a millisecond; the set-up after it is slower, and no less
    one.
    """
    exec_look = interval(0, 4 * MB, MERGING, used_ns=(500_000, 500_000))
    onset = Onset().after(exec_look, look(MERGING))
    for number in range(1, 9):
        onset = onset.after(interval(number * LOOK_NS, 10 * MB, MERGING), look(MERGING))
        assert onset.stage == "setting up"
