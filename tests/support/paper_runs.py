"""Runs of mechanisms in the form that a figure of a paper gets: made up, with a record of all
requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autofinity.evaluation.comparison import MechanismCase
from autofinity.model.mechanism_run import MechanismRun
from autofinity.profiling.campaign import ReadyProgram
from autofinity.report.chart import Chart
from autofinity.sim.machine import SimMachine

RUN = MechanismRun(
    time_s=2.0,
    threads=4,
    instructions=1_000_000,
    l2_misses=20_000,
    llc_misses=5_000,
    tlb_accesses=300_000,
    page_walks=600,
    traffic_bytes=100,
    cache_to_cache_transfers=10,
    invalidations=4,
    energy_j=8.0,
    dram_energy_j=2.0,
    accesses=400_000,
    mappings=2,
    mappings_changed=1,
    operation_ns={"page copy": [1.0, 2.0, 3.0, 4.0, 9.0]},
    detection_accesses=4_000,
    thread_migrations=4,
    page_migrations=8,
    overhead_ns={"fault": 60_000_000, "page copy": 20_000_000, "thread migration": 8_000_000},
)


def case(program: str, mechanism: str, time_s: float, **other: float) -> MechanismCase:
    return MechanismCase(program, mechanism, 1, replace(RUN, time_s=time_s, **other))  # type: ignore[arg-type]


@dataclass
class FakeRuns:
    """Runs in which every program under every mechanism takes the time that `time_s` gives for
    it.
    """

    time_s: Callable[..., float]
    on: str = "here"
    threads: int = 4
    names: Sequence[str] = ("a",)
    asked: list[tuple[tuple[str, ...], dict[str, Any]]] = field(default_factory=list)

    def cases(self, mechanisms: Sequence[str], **options: Any) -> list[MechanismCase]:
        self.asked.append((tuple(mechanisms), dict(options)))
        return [
            case(program, mechanism, self.time_s(program, mechanism, **options))
            for program in options.pop("programs", ("a",))
            for mechanism in dict.fromkeys(("os", *mechanisms))
        ]

    def machine(self) -> SimMachine:
        raise AssertionError("no figure of times looks at the machine")

    def programs(self) -> Sequence[ReadyProgram]:
        raise AssertionError("no figure of times looks at the programs")


def drawn_of(chart: object, series: str) -> dict[str, float]:
    """Position → value of one series."""
    assert isinstance(chart, Chart)
    return dict(zip(chart.positions, chart.series[series], strict=True))
