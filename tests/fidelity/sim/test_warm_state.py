"""State of a warmed window equals that of a full replay there: lines resident, and their states.

Held for captured programs on machines with caches an eighth as large, so that the small inputs of
a test are too large for them, and without prefetchers: prefetched lines that nobody has asked for
since are in no snapshot (1 % to 2 % of the lines of `cg`, 0.1 % of those of `stencil`). Other
differences:

- A line that moves up leaves a way of a victim cache empty. Warming touches each line once, so
  none moves up: it fills 1 % to 3 % more, with lines that are a little too old.
- No snapshot says whether a line that was read since its last write has been written back in
  between. It matters where a program is about as large as the caches.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from captured_training import CapturedTraining, captured_training
from sim_programs import BASE, without_prefetch
from warm_state import Agreement, Caches, instant_of

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.result import EVENT_INDEX
from autofinity.sim.sampled_window import replay_window
from autofinity.sim.spec import CacheSpec, MachineSpec

STEP_NS = 500.0
SMALLER = 8
FLOORS = {"opteron-6164he": (0.94, 0.83), "epyc-9654": (0.96, 0.89)}
"""Shares for an LLC with its L2s: lines resident in both, and dirty or not in both."""
PROGRAMS = {"cg": "20 4", "stencil": "48 4", "lu": "6"}


def smaller_caches(spec: MachineSpec) -> MachineSpec:
    def smaller(cache: CacheSpec) -> CacheSpec:
        return replace(cache, size_bytes=cache.size_bytes // SMALLER)

    return replace(
        spec,
        core_classes=tuple(
            replace(kind, l2=smaller(kind.l2) if kind.l2 else None) for kind in spec.core_classes
        ),
        llc=smaller(spec.llc),
    )


@pytest.fixture(scope="module", params=PROGRAMS)
def captured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> CapturedTraining:
    name: str = request.param
    return captured_training(name, PROGRAMS[name], 8, tmp_path_factory.mktemp("traces"))


def agreement(captured: CapturedTraining, machine: str, spread: bool) -> dict[str, Agreement]:
    spec = smaller_caches(without_prefetch(load_preset(machine)))
    model = machine_model(spec)
    apart = len(spec.topology.pus) // captured.trace.streams if spread else 1
    pus = [stream * apart for stream in range(captured.trace.streams)]
    instant = instant_of(model, captured.trace, pus, 0.5, STEP_NS)
    warmed = core.Simulation(model, instant.window(), pus)
    warmed.check()
    return Caches.of(spec, pus).agreement(instant.replay, warmed)


@pytest.mark.parametrize("spread", [False, True], ids=["packed", "spread"])
@pytest.mark.parametrize("machine", ["opteron-6164he", "epyc-9654"])
def test_lines_and_their_states_are_those_of_a_full_replay(
    captured: CapturedTraining, machine: str, spread: bool
) -> None:
    found = agreement(captured, machine, spread)
    resident, with_state = FLOORS[machine]
    assert found["llc domain"].true > 1000
    assert found["llc domain"].resident > resident
    assert found["llc domain"].with_state > with_state


RANDOM_READS = 400_000


def reads(builder: TraceBuilder, lines: Sequence[int]) -> None:
    for line in lines:
        builder.access(0, BASE + line, gap=20)


@pytest.mark.parametrize("machine", ["epyc-9654", "opteron-6164he"])
def test_an_llc_of_victims_evicts_in_a_window_what_it_evicts_in_the_long_run(machine: str) -> None:
    # Random reads of one and a half times what the caches hold. A hit takes the line out of the
    # LLC: what comes in finds an empty way as often as that. Lines touched once leave none empty.
    spec = smaller_caches(without_prefetch(load_preset(machine)))
    model = machine_model(spec)
    lines = spec.llc.size_bytes // 64 * 3 // 2
    drawn = random.Random(1).choices(range(lines), k=RANDOM_READS)
    long, last = drawn[: RANDOM_READS // 2], drawn[RANDOM_READS // 2 :]
    run = TraceBuilder()
    run.stream()
    reads(run, long)
    run.roi_begin(0)
    reads(run, last)
    run.roi_end(0)
    whole = core.Simulation(model, core.Program(run.build()), [0])
    whole.run()
    newest = list(dict.fromkeys(reversed(long)))
    window = TraceBuilder()
    window.stream()
    reads(window, last[: RANDOM_READS // 16])
    snapshot = [(BASE + line, 1, False, len(newest) - at) for at, line in enumerate(newest)]
    result = replay_window(model, core.Program.window(window.build(), [], [snapshot], [False]), [0])

    def evictions_a_miss(totals: npt.NDArray[np.uint64]) -> float:
        return float(totals[0, EVENT_INDEX["llc_evictions"]] / totals[0, EVENT_INDEX["llc_misses"]])

    assert evictions_a_miss(result.totals) == pytest.approx(
        evictions_a_miss(whole.totals()), rel=0.1
    )
