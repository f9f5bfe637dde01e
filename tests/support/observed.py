"""Observations of made-up runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autofinity.model.affinity import Affinity
from autofinity.model.counters import Behaviour
from autofinity.model.observation import Observation


def observation(**known: Any) -> Observation:
    """An observation of two threads in one cache for a second, changed by the values in `known`."""
    row = Observation(
        program="p",
        input="small",
        threads=2,
        affinity=Affinity.of([[2]]),
        sample=0,
        progress=0.5,
        behaviour=Behaviour({"instructions": 1.0}),
        performance=1.0,
        roi_s=1.0,
        machine="m",
        backend="sim",
        seed=1,
        version="1",
    )
    return replace(row, **known)
