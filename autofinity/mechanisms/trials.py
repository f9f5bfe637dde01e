"""Mappings tried one after the other, and the one with most instructions per clock kept.

- `autopin`: the oracle's mapping and 4 random ones; 500 ms to warm up, then 150 ms each (TLB paper,
  section 6.7; SAMMU, section 4.3; Klug et al., autopin).
- `blackbox`: random ones, 150 ms each.

Threads only. Deviations: `blackbox` tries as many as fit into half of a run of a minute, 200; a
thousand would outlast it. Nothing is detected, so nothing but the migrations is charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.mapping.eagermap import eagermap
from autofinity.mechanisms.recipe import UNMANAGED, Setting
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, Sensors
from autofinity.profiling.placements import bound, random_cpus

WARMUP_MS = 500
TRIAL_MS = 150
RANDOM = 4
BLACKBOX = 200


@dataclass(frozen=True, slots=True)
class Tried:
    """How many mappings were begun, and the best of those that are over."""

    begun: int = 0
    best: int = 0
    best_ipc: float = 0.0
    settled: bool = False


class Trials:
    """Recipe of the mechanisms `autopin` and `blackbox`, which try mappings in turn."""

    start = UNMANAGED
    sensors = Sensors(("instructions", "cycles"))

    def __init__(
        self,
        name: str,
        setting: Setting,
        candidates: Sequence[tuple[OsIndex, ...]],
        warmup_ms: float,
    ) -> None:
        self.name = name
        self._setting = setting
        self._candidates = tuple(candidates)
        self._warmup_ms = warmup_ms

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> Tried:
        """None tried."""
        return Tried()

    def period_ns(self, state: Tried) -> int:
        """To the end of a trial."""
        return self._setting.ns(TRIAL_MS if state.begun else self._warmup_ms)

    def step(self, state: Tried, interval: Interval) -> tuple[Tried, Sequence[Action]]:
        """Judge the mapping of this interval; begin the next one, or go back to the best."""
        if state.settled:
            return state, ()
        if state.begun:
            ipc = instructions_per_clock(interval)
            if ipc > state.best_ipc:
                state = Tried(state.begun, state.begun - 1, ipc)
        if state.begun < len(self._candidates):
            cpus = self._candidates[state.begun]
            return Tried(state.begun + 1, state.best, state.best_ipc), _to(cpus)
        cpus = self._candidates[state.best]
        return Tried(state.begun, state.best, state.best_ipc, settled=True), _to(cpus)


def instructions_per_clock(interval: Interval) -> float:
    """IPC of all threads together; waiting threads use no clocks, so this is not progress."""
    instructions = sum(sample.counts["instructions"] for sample in interval.samples)
    cycles = sum(sample.counts["cycles"] for sample in interval.samples)
    return instructions / cycles if cycles else 0.0


def _to(cpus: tuple[OsIndex, ...]) -> tuple[Action, ...]:
    return (BindThreads(bound(cpus)),)


def autopin(setting: Setting) -> Trials:
    """The oracle's mapping among four random ones."""
    topology = setting.topology
    best = eagermap(setting.known_trace().sharing, topology, topology.allowed)
    return Trials("autopin", setting, [best, *_random(setting, RANDOM)], WARMUP_MS)


def blackbox(setting: Setting) -> Trials:
    """Random mappings only."""
    return Trials("blackbox", setting, _random(setting, BLACKBOX), TRIAL_MS)


def _random(setting: Setting, count: int) -> list[tuple[OsIndex, ...]]:
    first = 1_000_003 * setting.seed
    return [random_cpus(setting.topology, setting.threads, first + i) for i in range(count)]
