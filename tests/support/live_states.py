"""States of runs for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autofinity.runtime.live_state import LiveState


def placed_as(state: LiveState, **changes: Any) -> LiveState:
    """The state with changes of its placement."""
    return replace(state, placed=replace(state.placed, **changes))


def sampled_as(state: LiveState, **changes: Any) -> LiveState:
    """The state with changes of its samples."""
    return replace(state, samples=replace(state.samples, **changes))
