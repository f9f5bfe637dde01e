"""Partners change while the program runs: the benchmark of section 2 of Cruz et al., detected.

Cruz, Diener & Navaux, Communication-Aware Thread Mapping Using the Translation Lookaside Buffer,
CCPE 2014: "dynamic mapping has more potential for improvements than static mapping, since it can
react to changes in the communication pattern". The program is `training/prodcons`, captured, on the
paper's machine, with blocks of 1 MiB: what two partners exchange fills a TLB, so that the pages of
former partners leave it. Each pair exchanges 16 of them in a period: with 8, the pages that a
period leaves behind still decide about one thread in the next (where the stack lies, differs from
capture to capture, and with it which one).

The phases last some milliseconds, the paper's seconds: the recipe scales its trigger and its looks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from captured_training import captured_training

from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.mapping.edmonds import edmonds
from autofinity.mechanisms.recipe import Setting, Start
from autofinity.mechanisms.static import Static, operating_system
from autofinity.mechanisms.tlb_matching import Matched, TlbMapping, tlb
from autofinity.model.sharing import SharingMatrix
from autofinity.ports import Interval, Outcome, RunRequest
from autofinity.profiling.placements import bound
from autofinity.runtime.loop import run_loop
from autofinity.sim.machine import SimMachine

THREADS, PERIODS = 8, 4
NEAR = tuple(thread ^ 1 for thread in range(THREADS))
FAR = tuple((thread + THREADS // 2) % THREADS for thread in range(THREADS))
WORDS = 131_072
BLOCKS = PERIODS * THREADS // 2 * 16
RUN_NS = 46_000_000
"""Approximate time of the run under the operating system: it stands for a minute."""


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    return SimMachine.preset("xeon-e5-2650")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("phases")
    captured = captured_training("prodcons", f"{BLOCKS} {PERIODS} {WORDS}", THREADS, folder)
    out = folder / "trace"
    out.mkdir()
    captured.trace.write(str(out))
    return str(out)


def setting(machine: SimMachine) -> Setting:
    return Setting(machine.topology, THREADS, machine.clock_hz, paper_second_ns=RUN_NS // 60)


def dynamic(machine: SimMachine) -> TlbMapping:
    return tlb(setting(machine))


@dataclass
class Watched:
    """A run under dynamic mapping: what was seen and done, and how long it took."""

    found: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Period → partner of each thread, as the recipe saw it last in the period."""
    moved: set[int] = field(default_factory=set)
    """Periods in which threads moved."""
    time_s: float = 0.0

    def saw(
        self, before: Matched, after: Matched, interval: Interval, outcome: Outcome | None
    ) -> None:
        period = min(int(interval.progress * PERIODS), PERIODS - 1)
        if after.triggers < before.triggers:
            self.found[period] = after.partners
        if after.cpus != before.cpus:
            self.moved.add(period)
        self.time_s = interval.end_ns / 1e9


@pytest.fixture(scope="module")
def watched(machine: SimMachine, program: str) -> Watched:
    recipe, watched = dynamic(machine), Watched()
    process = machine.start(RunRequest(program, threads=THREADS), None, recipe.sensors, 1)
    state = recipe.begin(machine.topology, machine.topology.allowed, THREADS)
    run_loop(process, recipe, state, recipe.period_ns, watched)
    return watched


def test_tlb_section_6_2_both_phases_and_the_changes_between_them_are_found(
    watched: Watched,
) -> None:
    for period in range(PERIODS):
        found, expected = watched.found[period], FAR if period % 2 else NEAR
        right = sum(a == b for a, b in zip(found, expected, strict=True))
        assert right >= THREADS - 2, f"period {period}: {found}"


def test_threads_move_when_their_partners_change_for_the_first_time(watched: Watched) -> None:
    """Later changes need no move: four threads on a socket can have all their partners there."""
    assert {0, 1} <= watched.moved


def test_tlb_section_2_dynamic_mapping_beats_the_best_static_one_and_the_operating_system(
    machine: SimMachine, program: str, watched: Watched
) -> None:
    """The static mapping is what the same mapper makes of the first phase."""
    first_phase = SharingMatrix(
        tuple(tuple(float(NEAR[i] == j) for j in range(THREADS)) for i in range(THREADS))
    )
    topology = machine.topology
    start = Start(bound(edmonds(first_phase, topology, topology.allowed)))
    static = Static("static", setting(machine), start)
    request = RunRequest(program, threads=THREADS)
    times = {
        recipe.name: run_mechanism(machine, request, recipe, seed=1).time_s
        for recipe in (static, operating_system(setting(machine)))
    }
    assert watched.time_s < 0.95 * times["static"]
    assert watched.time_s < times["os"]
