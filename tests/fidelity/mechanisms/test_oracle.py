"""The oracle is a bound: no placement of a table beats it.

kMAF'16 (TPDS 2016), section 5.3, has the oracle map threads by EagerMap from a trace, as many as
the machine has PUs. With fewer it says nothing of how many caches they should have: `oracle-trace`
is that to the letter, `oracle` the best of it and of the best affinity.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from captured_training import captured_training

from autofinity.detect.whole_trace import whole_trace
from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.mechanisms.recipe import Setting, WholeTrace
from autofinity.mechanisms.registry import MECHANISMS, ORACLE
from autofinity.ports import RunRequest
from autofinity.sim.machine import SimMachine
from autofinity.sim.replay import load_program, workers_of

NOISE = 1.02
CANDIDATES = ("os", "packed", "spread", "compact", "oracle-affinity", "oracle-trace")
OTHERS = ("random", "interleave", "neighbours", "oracle-threads", "oracle-pages", "tl-dl")
PROGRAMS = {"stencil": "48 4", "prodcons": "64 1 2048", "pic": "24 4000 3"}
"""Neighbours, pairs and one shared grid."""

type TimeOf = Callable[[str], float]


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp(request.param)
    captured_training(request.param, PROGRAMS[request.param], 8, folder)
    (index,) = folder.rglob("index.aft")
    return str(index.parent)


@pytest.fixture(scope="module", params=["xeon-x7550", "opteron-6164he"])
def time_of(request: pytest.FixtureRequest, program: str) -> TimeOf:
    """Seconds under a mechanism: 8 threads on 32 and on 48 PUs."""
    machine = SimMachine.preset(request.param)
    sharing, accesses = whole_trace(load_program(Path(program)), workers_of(Path(program), 8))
    setting = Setting(
        machine.topology,
        8,
        machine.clock_hz,
        seed=1,
        whole_trace=lambda: WholeTrace(sharing, accesses.pages),
    )
    run = RunRequest(program, threads=8, repeats=3)
    found: dict[str, float] = {}

    def time_s(name: str) -> float:
        if name not in found:
            recipes = MECHANISMS[name].make(setting)
            found[name] = min(run_mechanism(machine, run, one, seed=1).time_s for one in recipes)
        return found[name]

    return time_s


def test_with_fewer_threads_than_pus_the_oracle_is_as_good_as_packed_and_spread(
    time_of: TimeOf,
) -> None:
    """And as the oracle of kMAF'16, section 5.3, and as whatever else it is the best of."""
    for name in CANDIDATES:
        assert time_of(ORACLE) <= time_of(name), name


def test_no_placement_beats_the_oracle_by_more_than_noise(time_of: TimeOf) -> None:
    for name in OTHERS:
        assert time_of(ORACLE) <= NOISE * time_of(name), name
