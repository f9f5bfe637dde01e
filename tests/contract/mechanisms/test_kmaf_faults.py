"""How often pages fault under kMAF on the simulated machine, and how often it maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from mixed_program import mixed_program
from sim_programs import kept

from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.mechanisms.kmaf14 import kmaf14
from autofinity.mechanisms.kmaf16 import faults_per_page, kmaf16
from autofinity.mechanisms.mapping_time import eagermap_ns
from autofinity.mechanisms.recipe import NS_PER_S, UNMANAGED, Setting, Start
from autofinity.mechanisms.sharing_aware import Known, SharingAware
from autofinity.mechanisms.static import operating_system
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, Interval, RunRequest, Sensors
from autofinity.sim.machine import SimMachine

THREADS, REPEATS, PAPER_S = 8, 40, 60
FAULT_NS = 454


@dataclass
class Watching:
    """A recipe as it is, how often it mapped, and which pages it saw."""

    recipe: SharingAware
    name: str = "watching"
    start: Start = UNMANAGED
    mappings: int = 0
    pages: set[int] = field(default_factory=set)

    @property
    def sensors(self) -> Sensors:
        return self.recipe.sensors

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> Known:
        return self.recipe.begin(topology, available, threads)

    def period_ns(self, state: Known) -> int:
        return self.recipe.period_ns(state)

    def step(self, state: Known, interval: Interval) -> tuple[Known, Sequence[Action]]:
        assert interval.pages is not None
        self.pages |= interval.pages.pages.keys()
        state, actions = self.recipe.step(state, interval)
        self.mappings = state.mappings
        return state, actions


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    return SimMachine.preset("opteron-6164he")


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> RunRequest:
    trace = kept(mixed_program(rounds=1500), tmp_path_factory.mktemp("trace") / "mixed")
    return RunRequest(trace, threads=THREADS, repeats=REPEATS)


@pytest.mark.parametrize("make", [kmaf14, kmaf16])
def test_kmaf16_section_6_4_pages_fault_twenty_times_and_table_3_maps_every_100_ms(
    make: Any, machine: SimMachine, request_: RunRequest
) -> None:
    setting = Setting(machine.topology, THREADS, machine.clock_hz, mapping_ns=eagermap_ns)
    alone = run_mechanism(machine, request_, operating_system(setting), seed=1)
    setting = replace(
        setting,
        paper_second_ns=round(alone.time_s * NS_PER_S / PAPER_S),
        fault_share_per_s=faults_per_page(REPEATS, PAPER_S) / PAPER_S,
    )
    watching = Watching(make(setting))
    run = run_mechanism(machine, request_, watching, seed=1)
    longer = run.time_s / alone.time_s
    faults = run.overhead_ns["fault"] / FAULT_NS / len(watching.pages)
    assert faults == pytest.approx(20 * longer, rel=0.25)
    assert watching.mappings == pytest.approx(600 * longer, rel=0.1)
    charged = eagermap_ns(THREADS) * watching.mappings * setting.paper_second_ns / NS_PER_S
    assert run.overhead_ns.get("mapping", 0) == pytest.approx(charged, abs=1)
