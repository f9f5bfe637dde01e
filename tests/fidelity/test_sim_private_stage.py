"""Training programs through the private stage: every counter within 5 %, cycles within 2 %.

`scripts/compare_private_stage.py` compares all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from captured_training import CapturedTraining, captured_training

from autofinity._core import sim as core
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Hint
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import pus_of_streams
from autofinity.sim.stage_agreement import COUNTER_SHARE, CYCLES_SHARE, Difference, differences
from autofinity.sim.stage_fitting import fitting_stage

MANY = 10_000
BYTES_PER_ACCESS = 0.05
"""On disk, at most."""
HINTS = ("SLP", "SlP", "Slp", "sLP", "slp")
MACHINES = ("opteron-6164he", "xeon-e5-2650")


@pytest.mark.parametrize(
    ("name", "arguments", "steps_share"),
    [
        ("lu", "3", 1 / 3),
        ("dedup", "128", 1 / 2),
        ("cg", "10 4", 1 / 2),
        ("stencil", "24 4", 2 / 3),
        ("lbm", "6 10", 1 / 2),
    ],
)
def test_whatever_a_program_counts_often_is_the_same_through_its_private_stage(
    name: str, arguments: str, steps_share: float, tmp_path: Path
) -> None:
    captured = captured_training(name, arguments, 8, tmp_path)
    for machine in MACHINES:
        for hint, difference in replayed_both_ways(captured, machine, steps_share):
            assert difference.used <= 1, (machine, hint, difference)
            if difference.full >= MANY:
                share = CYCLES_SHARE if difference.event == "cycles" else COUNTER_SHARE
                off = abs(difference.staged / difference.full - 1)
                assert off <= share, (machine, hint, difference)


def test_a_program_of_equal_parts_is_the_same_but_for_what_scatters(tmp_path: Path) -> None:
    """What equal parts differ by, and so how long threads wait, is up to single events.

    A wait a clock longer than the machine spins costs a wake-up, and all others wait for it: on
    the Opteron 2,551 clocks each, up to a third of all waits of a run with eight barriers.
    """
    captured = captured_training("pricer", "1024 32", 8, tmp_path)
    for machine in MACHINES:
        for hint, difference in replayed_both_ways(captured, machine, 1 / 3):
            assert difference.used <= 1, (machine, hint, difference)


def test_threads_that_race_for_lines_train_the_prefetchers_as_in_the_full_stream(
    tmp_path: Path,
) -> None:
    """False sharing: of all accesses that are kept, 19 in 20 are to lines that threads race for."""
    captured = captured_training("keysearch", "1 8192", 8, tmp_path)
    for machine in MACHINES:
        for hint, difference in replayed_both_ways(captured, machine, 1):
            assert difference.used <= 1, (machine, hint, difference)


def replayed_both_ways(
    captured: CapturedTraining, machine: str, steps_share: float
) -> Iterator[tuple[str, Difference]]:
    """Of every hint, every counter.

    The stage has at most that share of the program's steps, and is small on disk.
    """
    spec = load_preset(machine)
    native = native_machine(spec)
    stage, worst = fitting_stage(spec, native, captured.program, captured.workers, 1)
    assert stage is not None, (machine, worst)
    assert stage.steps < captured.program.steps * steps_share
    on_disk = core.pack_private_stage(native, captured.program, stage)
    assert len(on_disk) <= BYTES_PER_ACCESS * captured.program.accesses
    for hint in HINTS:
        cpus = get_affinity(spec.topology, 8, Hint.parse(hint)).cpus
        pus = pus_of_streams(spec.topology, stage.streams, cpus, captured.workers)
        full, staged = (
            core.Simulation(native, program, pus, seed=1) for program in (captured.program, stage)
        )
        full.run()
        staged.run()
        for difference in differences(full.totals(), staged.totals()):
            yield hint, difference
