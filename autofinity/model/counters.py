"""Samples of hardware counters, and the behaviour that is made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from autofinity.model.errors import UsageError


@dataclass(frozen=True, slots=True)
class CounterSample:
    """Counts of one thread over one interval.

    `running_ns < enabled_ns` means that the PMU was multiplexed: `counts` are raw, and
    `scaled(event)` extrapolates as perf does.
    """

    tid: int
    start_ns: int
    end_ns: int
    counts: Mapping[str, int]
    enabled_ns: int
    running_ns: int

    def scaled(self, event: str) -> float:
        """Count of `event`, extrapolated to the whole interval. NaN when the counters never ran."""
        if self.running_ns == 0:
            return float("nan")
        return self.counts[event] * (self.enabled_ns / self.running_ns)

    def counted(self, event: str) -> float:
        """`scaled`; 0 where `event` was not counted."""
        if self.running_ns == 0 or event not in self.counts:
            return 0.0
        return self.scaled(event)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Input of a policy: counts per thread and second (section 3.1), by neutral event name.

    Ratios that carry over between machines (`ipc`, `…_per_kilo_instruction`, …) live in the same
    mapping; their names contain their unit.
    """

    values: Mapping[str, float]

    def __getitem__(self, counter: str) -> float:
        """Value of a counter; NaN when it was not measured (every condition on it is false)."""
        return self.values.get(counter, float("nan"))


def check_count(where: str, counter: str, value: float) -> None:
    """Raise `UsageError`, which names both, for a count below 0 or without end; NaN was not
    measured.
    """
    if value < 0 or math.isinf(value):
        raise UsageError(
            f"{where} has {value:g} for {counter}; expected a finite number of 0 or more, or NaN"
        )
