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
from autofinity.sim.spec import MachineSpec
from autofinity.sim.stage_agreement import Totals, counted_often, differences
from autofinity.sim.stage_fitting import (
    compared_placements,
    first_pus,
    fitting_stage,
    groups_of,
    wake_clocks_of,
)
from autofinity.sim.stage_store import StoredVerdict, write_verdict

BYTES_PER_ACCESS = 0.005
"""On disk, at most."""
HINTS = ("SLP", "SlP", "Slp", "sLP", "slp")
OPTERON, XEON = ("opteron-6164he",), ("xeon-e5-2650",)
MACHINES = OPTERON + XEON


@pytest.mark.parametrize(
    ("name", "arguments", "steps_share", "machines"),
    [
        ("lu", "3", 1 / 3, MACHINES),
        ("dedup", "128", 1 / 2, MACHINES),
        ("cg", "10 4", 1 / 2, MACHINES),
        ("stencil", "24 4", 2 / 3, OPTERON),
        ("lbm", "6 10", 1 / 2, MACHINES),
        ("pricer", "1024 32", 1 / 3, OPTERON),
    ],
)
def test_whatever_a_program_counts_often_is_the_same_through_its_private_stage(
    name: str, arguments: str, steps_share: float, machines: tuple[str, ...], tmp_path: Path
) -> None:
    captured = captured_training(name, arguments, 8, tmp_path)
    for machine in machines:
        spec = load_preset(machine)
        stage, worst = fitting_stage(
            spec, native_machine(spec), captured.program, captured.workers, 1
        )
        assert stage is not None, (machine, worst)
        write_verdict(tmp_path, bytes(32), StoredVerdict(worst, stage.races))
        (on_disk,) = tmp_path.glob("*.verdict")
        assert on_disk.stat().st_size <= BYTES_PER_ACCESS * captured.program.accesses
        for hint, full, staged in replayed_both_ways(captured, spec, stage, steps_share):
            often = counted_often(full, staged, wake_clocks_of(spec, len(captured.workers)))
            assert len(often) > 20
            for difference in (*often, *differences(full, staged)):
                assert difference.used <= 1, (machine, hint, difference)


@pytest.mark.parametrize(
    ("name", "arguments", "steps_share", "machines"),
    [
        ("pricer", "1024 32", 1 / 3, XEON),
        ("keysearch", "1 8192", 1, MACHINES),
        ("md", "4 4", 1 / 3, MACHINES),
        ("sor", "64 16", 1 / 2, MACHINES),
    ],
)
def test_threads_that_race_count_the_same_but_for_what_scatters(
    name: str, arguments: str, steps_share: float, machines: tuple[str, ...], tmp_path: Path
) -> None:
    """For lines they write, and train the prefetchers (`keysearch`), or for the next barrier.

    On the Xeon the thread of `pricer` that is ahead by a clock fetches the lines of a page that all
    read from memory for the others.
    """
    captured = captured_training(name, arguments, 8, tmp_path)
    for machine in machines:
        spec = load_preset(machine)
        workers = captured.workers
        pus = first_pus(
            spec, groups_of(spec, compared_placements(spec, captured.program, workers)[0])
        )
        native = native_machine(spec)
        stage = core.derive_private_stage(native, captured.program, pus, seed=1)
        for hint, full, staged in replayed_both_ways(captured, spec, stage, steps_share):
            for difference in differences(full, staged):
                assert difference.used <= 1, (machine, hint, difference)


def replayed_both_ways(
    captured: CapturedTraining, spec: MachineSpec, stage: core.Program, steps_share: float
) -> Iterator[tuple[str, Totals, Totals]]:
    """Counts of every hint, of the full stream and from the stage.

    The stage has at most that share of the program's steps.
    """
    native = native_machine(spec)
    assert stage.steps < captured.program.steps * steps_share
    for hint in HINTS:
        cpus = get_affinity(spec.topology, 8, Hint.parse(hint)).cpus
        pus = pus_of_streams(spec.topology, stage.streams, cpus, captured.workers)
        full, staged = (
            core.Simulation(native, program, pus, seed=1) for program in (captured.program, stage)
        )
        full.run()
        staged.run()
        yield hint, full.totals(), staged.totals()
