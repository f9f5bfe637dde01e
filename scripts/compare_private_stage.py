#!/usr/bin/env python3
"""How far replays that start from a private stage are from replays of the full stream.

    PYTHONPATH=. python scripts/compare_private_stage.py [--program NAME]… [--threads 8]
        [--size tiny] [--machine opteron-6164he] [--affinities hints] [--traces FOLDER]

Captures the training programs (kept in FOLDER, if given) and replays each in every affinity both
ways, and so a loop of false sharing, in which all threads read and write one line (`--program
false-sharing`). Prints two tables as Markdown. The first has a row for each program: whether
`SimMachine` uses its stage (`no faster`: it agrees, but too many threads race for it to save
anything); the cycles of the affinity where they differ most; the counter that uses most of what is
allowed (more than 100 %: too far off); of those that count often
(`autofinity/sim/stage_agreement.py`) the one that is farthest off, noise or not; the same of a full
stream whose cores may run ahead of each other by ten clocks, which is what the order of races alone
does; in how many of the program's events threads race; how many times as fast the stage is in CPU
time; how many full replays the derivation and the
comparison before it cost, and how many to derive it again; and the bytes an access that are kept on
disk. Lines say in how many programs all that counts often is within 5 %, and cycles within 2 %, and
the bytes and the derivations over all of them.
The second table, over the programs whose stage agrees, has a row for each counter: the largest
difference in one affinity of one program, for counters of at least --least events there. Exits with
1 if a stage that agrees where it is compared before use is too far off. Needs the test tools.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from sim_programs import false_sharing  # noqa: E402

from autofinity._core import sim as core  # noqa: E402
from autofinity.affinity.enumerate import place  # noqa: E402
from autofinity.capture.build import Compilers, skip_reason  # noqa: E402
from autofinity.capture.campaign import capture_suite  # noqa: E402
from autofinity.profiling.selection import select  # noqa: E402
from autofinity.resources import shipped  # noqa: E402
from autofinity.sim.native import native_machine  # noqa: E402
from autofinity.sim.preset import load_preset  # noqa: E402
from autofinity.sim.replay import load_program, pus_of_streams  # noqa: E402
from autofinity.sim.result import EVENT_INDEX  # noqa: E402
from autofinity.sim.spec import MachineSpec  # noqa: E402
from autofinity.sim.stage_agreement import (  # noqa: E402
    CLOCKS_AHEAD,
    COUNTER_SHARE,
    CYCLES_SHARE,
    Difference,
    counted_often,
    farthest_off,
)
from autofinity.sim.stage_fitting import (  # noqa: E402
    MOST_RACING,
    first_pus,
    fitting_stage,
    groups_of,
    may_have_stage,
    wake_clocks_of,
)
from autofinity.sim.stage_store import StoredVerdict, write_verdict  # noqa: E402
from autofinity.trace.manifest import load_suite  # noqa: E402
from autofinity.trace.meta import TraceMeta  # noqa: E402

SEED = 1
FALSE_SHARING = "false-sharing"
ROUNDS, COMPACTED = 20_000, 8

type Totals = npt.NDArray[np.float64]


@dataclass
class Compared:
    """One program, both ways; totals of all streams, [affinities, events]."""

    program: str
    agrees: bool
    """With the full stream, where it is compared before use."""
    racing: float
    """Share of the program's events that the stage keeps since threads race in them."""
    full: Totals
    staged: Totals
    ahead: Totals
    """The full stream with cores that run ahead of each other."""
    wake_clocks: float
    """What a wake-up of every thread takes."""
    full_s: float
    staged_s: float
    fitting_s: float
    again_s: float
    """To derive it again from what is kept."""
    kept_bytes: int
    accesses: int

    @property
    def used(self) -> str:
        """As the table has it."""
        return (
            "not used" if not self.agrees else "used" if self.racing <= MOST_RACING else "no faster"
        )

    def differences(self, event: str) -> npt.NDArray[np.float64]:
        """Relative to the full stream, one an affinity."""
        column = EVENT_INDEX[event]
        return self.staged[:, column] / self.full[:, column] - 1

    def worst(self) -> Difference:
        """Over the affinities."""
        pairs = zip(self.full, self.staged, strict=True)
        return max((farthest_off(*pair) for pair in pairs), key=lambda each: each.used)

    def worst_as_counted(self, other: Totals) -> Difference:
        """Of the counters that count often, over the affinities."""
        return max(
            (
                each
                for pair in zip(self.full, other, strict=True)
                for each in counted_often(*pair, self.wake_clocks)
            ),
            key=lambda each: each.used,
        )


def replayed(
    machine: core.Machine, program: core.Program, pus_of_affinity: list[list[int]]
) -> tuple[Totals, float]:
    """Totals, [affinities, events], and CPU seconds."""
    begin_s = time.process_time()
    rows = []
    for pus in pus_of_affinity:
        simulation = core.Simulation(machine, program, pus, seed=SEED)
        simulation.run()
        rows.append(simulation.totals().sum(axis=0))
    return np.array(rows, dtype=np.float64), time.process_time() - begin_s


def compared(
    spec: MachineSpec, name: str, program: core.Program, workers: Sequence[int], affinities: str
) -> Compared | None:
    """None for a program that has no stage at all."""
    machine = native_machine(spec)
    pus_of_affinity = [
        pus_of_streams(spec.topology, program.streams, place(spec.topology, affinity).cpus, workers)
        for affinity in select(spec.topology, len(workers), affinities, SEED)
    ]
    if not may_have_stage(spec, program, pus_of_affinity[0], workers):
        return None
    begin_s = time.process_time()
    fitting, worst = fitting_stage(spec, machine, program, workers, SEED)
    fitting_s = time.process_time() - begin_s
    first = first_pus(spec, groups_of(spec, pus_of_affinity[0]))
    stage = fitting or core.derive_private_stage(machine, program, first, seed=SEED)
    full, full_s = replayed(machine, program, pus_of_affinity)
    staged, staged_s = replayed(machine, stage, pus_of_affinity)
    ahead_ns = CLOCKS_AHEAD / spec.ghz
    ahead, _ = replayed(native_machine(spec, ahead_ns), program, pus_of_affinity)
    begin_s = time.process_time()
    core.derive_private_stage(machine, program, first, seed=SEED, races=stage.races)
    again_s = time.process_time() - begin_s
    return Compared(
        name,
        fitting is not None,
        stage.racing_accesses / program.steps,
        full,
        staged,
        ahead,
        wake_clocks_of(spec, len(workers)),
        full_s,
        staged_s,
        fitting_s,
        again_s,
        bytes_of(StoredVerdict(worst, stage.races if fitting else None)),
        program.accesses,
    )


def bytes_of(verdict: StoredVerdict) -> int:
    """What it takes beside the trace."""
    with tempfile.TemporaryDirectory(prefix="autofinity-verdict-") as name:
        write_verdict(Path(name), bytes(32), verdict)
        return sum(file.stat().st_size for file in Path(name).iterdir())


def captured(args: argparse.Namespace, folder: Path) -> list[TraceMeta]:
    if args.program == [FALSE_SHARING]:
        return []
    suite = load_suite(shipped("training", "suite.toml"))
    compilers = Compilers.find(os.environ)
    names = [
        spec.name
        for spec in suite.pick(tuple(name for name in args.program if name != FALSE_SHARING))
        if skip_reason(spec, compilers) is None and spec.threads.allows(args.threads)
    ]
    return capture_suite(suite, names, args.threads, args.size, folder)


def percent(difference: float) -> str:
    return f"{100 * difference:+.2f} %"


def farthest(differences: npt.NDArray[np.float64]) -> float:
    return float(differences[np.argmax(np.abs(differences))])


def print_programs(rows: list[tuple[str, Compared | None]]) -> None:
    print(
        "| program | stage | cycles, at most | most of what is allowed "
        "| as counted, at most | full stream, run ahead | racing | replays | made for | again "
        "| on disk |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, row in rows:
        if row is None:
            print(f"| {name} | none | | | | | | | | | |")
            continue
        worst = row.worst()
        counted, ahead = (row.worst_as_counted(other) for other in (row.staged, row.ahead))
        print(
            f"| {name} | {row.used} "
            f"| {percent(farthest(row.differences('cycles')))} "
            f"| {100 * worst.used:.0f} % ({worst.event}) "
            f"| {percent(counted.staged / counted.full - 1)} ({counted.event}) "
            f"| {percent(ahead.staged / ahead.full - 1)} ({ahead.event}) "
            f"| {row.racing:.0%} "
            f"| {row.full_s / row.staged_s:.1f} x "
            f"| {row.fitting_s / row.full_s * len(row.full):.1f} "
            f"| {row.again_s / row.full_s * len(row.full):.1f} "
            f"| {row.kept_bytes / row.accesses:.4f} |"
        )


def print_summary(rows: list[Compared]) -> None:
    within = [row for row in rows if row.worst_as_counted(row.staged).used <= 1]
    agreeing = [row for row in rows if row.agrees]
    print(
        f"What counts often is within {COUNTER_SHARE:.0%}, and cycles within {CYCLES_SHARE:.0%}, "
        f"in {len(within)} of {len(rows)} programs, and in "
        f"{sum(row in within for row in agreeing)} of {len(agreeing)} whose stage agrees where it "
        "is compared before use"
    )
    on_disk = sum(row.kept_bytes for row in rows) / sum(row.accesses for row in rows)
    print(f"On disk over all: {on_disk:.4f} byte an access")
    replays_s = sum(row.full_s / len(row.full) for row in rows)
    again = sum(row.again_s for row in rows) / replays_s
    print(f"To derive all again takes {again:.1f} full replays")


def print_counters(rows: list[Compared], least: int) -> None:
    print("| counter | program | at most |")
    print("|---|---|---|")
    for event, column in EVENT_INDEX.items():
        found = [
            (farthest(row.differences(event)), row.program)
            for row in rows
            if row.full[:, column].min() >= least
        ]
        if found:
            most, program = max(found, key=lambda each: abs(each[0]))
            print(f"| {event} | {program} | {percent(most)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--program", "-p", action="append", default=[])
    parser.add_argument("--threads", "-t", type=int, default=8)
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--machine", "-m", default="opteron-6164he")
    parser.add_argument("--affinities", default="hints", help="as for `autofinity profile`")
    parser.add_argument("--least", type=int, default=1000, help="events in every affinity")
    parser.add_argument("--traces", type=Path)
    args = parser.parse_args()
    spec = load_preset(args.machine)
    with tempfile.TemporaryDirectory(prefix="autofinity-compare-") as name:
        metas = captured(args, args.traces or Path(name))
        rows = [
            (
                meta.program,
                compared(
                    spec, meta.program, load_program(meta.path), meta.workers(), args.affinities
                ),
            )
            for meta in metas
        ]
    if not args.program or FALSE_SHARING in args.program:
        loop = core.Program(false_sharing(args.threads, ROUNDS, COMPACTED))
        workers = range(args.threads)
        rows.append((FALSE_SHARING, compared(spec, FALSE_SHARING, loop, workers, args.affinities)))
    print_programs(rows)
    print()
    if staged := [row for _, row in rows if row is not None]:
        print_summary(staged)
        print()
    agreeing = [row for _, row in rows if row is not None and row.agrees]
    print_counters(agreeing, args.least)
    sys.exit(
        any(max(row.worst().used, row.worst_as_counted(row.staged).used) > 1 for row in agreeing)
    )


if __name__ == "__main__":
    main()
