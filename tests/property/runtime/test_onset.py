"""Whatever a program does, its sampling is neither put off for ever nor begun within a set-up."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from told_looks import LOOK_NS, at_phase, interval, look

from autofinity.runtime.steady import Onset

NEW = st.floats(0, 1e9)
PKI = st.floats(0, 200)


def stages(looks: list[tuple[float, float]]) -> list[str]:
    onset, found = Onset(), []
    for number, (fresh, pki) in enumerate(looks):
        values = at_phase(pki)
        onset = onset.after(interval(number * LOOK_NS, fresh, values), look(values))
        found.append(onset.stage)
    return found


@given(st.integers(0, 1 << 32), st.lists(st.tuples(NEW, PKI), min_size=1, max_size=5))
def test_it_may_be_sampled_within_31_seconds_once_at_least(
    seed: int, behaviours: list[tuple[float, float]]
) -> None:
    """Half a minute of growth, and a second for phases after the last of it."""
    draw = random.Random(seed)
    looks = [draw.choice(behaviours) for _ in range(312)]
    assert {"steady", "growing for ever"} & set(stages(looks))


@given(st.integers(1, 250), st.floats(1e8, 1e10), PKI, st.integers(2, 30))
def test_it_is_never_sampled_while_memory_is_touched_at_full_speed(
    setup_looks: int, new_bytes: float, pki: float, then: int
) -> None:
    told = stages([(new_bytes, pki)] * setup_looks + [(0.0, pki)] * then)
    assert set(told[:setup_looks]) == {"setting up"}
    assert told[setup_looks + 1] == "steady"
