"""Training programs through the private stage: every counter within 5 %, cycles within 2 %.

`scripts/compare_private_stage.py` compares all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from captured_training import captured_training

from autofinity._core import sim as core
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Hint
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import pus_of_streams
from autofinity.sim.stage_agreement import CLOCKS, CLUMPS, COUNTER_SHARE, differences
from autofinity.sim.stage_fitting import fitting_stage

MANY = 10_000
HINTS = ("SLP", "SlP", "Slp", "sLP", "slp")


@pytest.mark.parametrize("machine", ["opteron-6164he", "xeon-e5-2650"])
@pytest.mark.parametrize(("name", "arguments"), [("lu", "3"), ("pricer", "1024 32")])
def test_a_program_is_the_same_through_its_private_stage(
    name: str, arguments: str, machine: str, tmp_path: Path
) -> None:
    captured = captured_training(name, arguments, 8, tmp_path)
    spec = load_preset(machine)
    native = native_machine(spec)
    stage, worst = fitting_stage(spec, native, captured.program, captured.workers, 1)
    assert stage is not None, worst
    assert stage.steps < captured.program.steps / 3
    for hint in HINTS:
        cpus = get_affinity(spec.topology, 8, Hint.parse(hint)).cpus
        pus = pus_of_streams(spec.topology, stage.streams, cpus, captured.workers)
        full, staged = (
            core.Simulation(native, program, pus, seed=1) for program in (captured.program, stage)
        )
        full.run()
        staged.run()
        found = differences(full.totals(), staged.totals())
        cycles = next(each.full for each in found if each.event == "cycles")
        for difference in found:
            assert difference.used <= 1, (hint, difference)
            # Of what comes often, nothing is forgiven as scatter; bytes come by the message, and
            # clocks by the million.
            clocks, clump = difference.event in CLOCKS, CLUMPS.get(difference.event, 1)
            often = cycles / 100 if clocks else MANY * clump
            if difference.full >= often:
                off = abs(difference.staged / difference.full - 1)
                assert off <= COUNTER_SHARE, (hint, difference)
