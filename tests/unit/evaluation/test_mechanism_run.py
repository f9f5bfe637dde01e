"""One run under a mechanism: what is counted of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.mechanisms.recipe import Setting
from autofinity.mechanisms.static import operating_system
from autofinity.model.counters import CounterSample
from autofinity.model.mechanism_run import STEPS
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, Interval, Outcome, RunRequest, Sensors
from autofinity.sim.preset import load_preset

TOPOLOGY = load_preset("xeon-e5-2650").topology
LOOKS, LOOK_NS = 10, 1_000_000
SHOWN = 0.5
"""Progress at the end of the region: the other half of what was captured comes after it."""


@dataclass
class _Steady:
    """As much work in each look; threads move after the third."""

    counters: Sequence[str]
    looks: int = 0

    def advance(self, duration_ns: int) -> Interval:
        del duration_ns
        begin_ns = self.looks * LOOK_NS
        self.looks += 1
        ended = self.looks == LOOKS
        counts = dict.fromkeys(self.counters, 0) | {"instructions": 1000}
        return Interval(
            begin_ns,
            begin_ns + LOOK_NS,
            (CounterSample(0, begin_ns, begin_ns + LOOK_NS, counts, LOOK_NS, LOOK_NS),),
            progress=1.0 if ended else SHOWN * self.looks / LOOKS,
            ended=ended,
            cpus=(OsIndex(self.looks > 3),),
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        return Outcome(len(actions), 0)


class _Machine:
    topology = TOPOLOGY

    def events(self) -> Mapping[str, str]:
        return {}

    def start(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int = 0
    ) -> _Steady:
        return _Steady(sensors.counters)


def test_parts_of_the_work_are_of_the_region_whatever_was_captured_after_it() -> None:
    setting = Setting(TOPOLOGY, 1, clock_hz=1e9)
    run = run_mechanism(_Machine(), RunRequest("program"), operating_system(setting))
    assert run.reached_s == pytest.approx(
        [LOOKS * LOOK_NS / 1e9 * (step + 1) / STEPS for step in range(STEPS)]
    )
    assert run.settled == pytest.approx(3 / LOOKS)
