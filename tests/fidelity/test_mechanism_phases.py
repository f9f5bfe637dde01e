"""Partners change while the program runs: the benchmark of section 2 of Cruz et al., detected.

Cruz, Diener & Navaux, Communication-Aware Thread Mapping Using the Translation Lookaside Buffer,
CCPE 2014: "dynamic mapping has more potential for improvements than static mapping, since it can
react to changes in the communication pattern". The program is `training/prodcons`, captured, on the
paper's machine, with blocks of 1 MiB: what two partners exchange fills a TLB, so that the pages of
former partners leave it. Each pair exchanges 16 of them in a period: with 8, the pages that a
period leaves behind still decide about one thread in the next (where the stack lies, differs from
capture to capture, and with it which one).

The phases last some milliseconds, the paper's seconds: fewer misses than T · E set the detection
off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from captured_training import captured_training

from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.mapping.edmonds import edmonds
from autofinity.mechanisms.recipe import Setting, Start
from autofinity.mechanisms.sharing_aware import added, nothing
from autofinity.mechanisms.static import Static, operating_system
from autofinity.mechanisms.tlb_matching import Matched, TlbMapping, partners
from autofinity.model.detection import TlbMatching
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
MISSES = 64
LOOK_NS = 50_000


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
    return Setting(machine.topology, THREADS, machine.clock_hz, paper_second_ns=100 * LOOK_NS)


def dynamic(machine: SimMachine) -> TlbMapping:
    return TlbMapping("tlb", setting(machine), TlbMatching(misses=MISSES), period_ms=10)


@dataclass
class Watched:
    """A run under dynamic mapping: what was seen and done, and how long it took."""

    seen: list[tuple[float, SharingMatrix]] = field(default_factory=list)
    """Share of the work done, and the sharing up to there since the look before."""
    moved: list[float] = field(default_factory=list)
    """Shares of the work at which threads were mapped anew."""
    time_s: float = 0.0

    def saw(
        self, before: Matched, after: Matched, interval: Interval, outcome: Outcome | None
    ) -> None:
        assert interval.sharing is not None
        self.seen.append((interval.progress, interval.sharing))
        if after.cpus != before.cpus:
            self.moved.append(interval.progress)
        self.time_s = interval.end_ns / 1e9

    def partners_in(self, period: int) -> tuple[int, ...]:
        """Of each thread, with whom it shared most in a period, but for its first tenth, in which
        the TLBs still hold pages of the period before.
        """
        matrix = nothing(THREADS)
        for progress, sharing in self.seen:
            if period + 0.1 < progress * PERIODS <= period + 1:
                matrix = added(matrix, sharing)
        return partners(matrix)


@pytest.fixture(scope="module")
def watched(machine: SimMachine, program: str) -> Watched:
    recipe, watched = dynamic(machine), Watched()
    process = machine.start(RunRequest(program, threads=THREADS), None, recipe.sensors, 1)
    state = recipe.begin(machine.topology, machine.topology.allowed, THREADS)
    run_loop(process, recipe, state, recipe.period_ns, watched)
    return watched


def test_both_phases_and_the_changes_between_them_are_found(watched: Watched) -> None:
    for period in range(PERIODS):
        found, expected = watched.partners_in(period), FAR if period % 2 else NEAR
        right = sum(a == b for a, b in zip(found, expected, strict=True))
        assert right >= THREADS - 1, f"period {period}: {found}"
        assert any(period < at * PERIODS <= period + 1 for at in watched.moved), watched.moved


def test_dynamic_mapping_beats_the_best_static_one_and_the_operating_system(
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
