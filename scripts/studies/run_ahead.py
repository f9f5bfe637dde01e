#!/usr/bin/env python3
"""Show how counters change when cores may run ahead of each other a little, as Markdown.

    python scripts/studies/run_ahead.py [--programs 16]

Simulators gain speed by this. Here cores run ahead by a quarter of the least latency from core to
core, compared with the order of simulated time, which all replays keep. One program alone is
chaotic: a few clocks change which thread waits for which. So each row is the sum of many random
programs (loads, stores, locks, barriers and sharing of eight threads, packed), with the standard
error of the mean: only a change several times as large counts. A second table has the three
counters of each machine that change most among those that count at least 1,000 events in all; for
counters of clocks, also the change as a share of the threads' time. Takes minutes; needs the test
tools.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("support", "fidelity")]

from mixed_program import mixed_program  # noqa: E402
from sim_programs import cpus  # noqa: E402

from autofinity._core import sim as core  # noqa: E402
from autofinity.report.markdown import heading, row  # noqa: E402
from autofinity.sim.preset import load_preset  # noqa: E402
from autofinity.sim.replay import simulate  # noqa: E402
from autofinity.sim.result import EVENT_INDEX  # noqa: E402

MACHINES = ("opteron-6164he", "xeon-e5-2650", "xeon-x7550", "epyc-9654")
COUNTERS = ("cycles", "stall_cycles_memory", "stall_cycles_sync", "coherence_misses")
THREADS = 8
LEAST = 1000  # events
SHOWN = 3

type Totals = npt.NDArray[np.float64]


def totals(machine: str, programs: list[core.Program]) -> Totals:
    """Totals of every counter, in order and with cores that run ahead: [programs, skews,
    events].
    """
    spec = load_preset(machine)
    placed = cpus(*(int(pu.os_index) for pu in spec.topology.pus[:THREADS]))
    skews_ns = (0.0, min(spec.latency.load_modified[0], spec.latency.store_modified[0]) / 4)
    return np.array(
        [
            [
                [result.total(event) for event in EVENT_INDEX]
                for result in (
                    simulate(spec, program, placed, skew_ns=skew_ns) for skew_ns in skews_ns
                )
            ]
            for program in programs
        ],
        dtype=float,
    )


def move_of(counts: Totals, event: str) -> str:
    """The change, and its standard error, in per cent."""
    each = counts[:, :, EVENT_INDEX[event]]
    exact, ahead = each.sum(axis=0)
    error = (each[:, 1] - each[:, 0]).std(ddof=1) * len(each) ** 0.5
    return f"{100 * (ahead / exact - 1):+.2f} ± {100 * error / exact:.2f} %"


def of_time(counts: Totals, event: str) -> str:
    """The change of clocks, in per cent of the threads' time; empty for counters of other
    events.
    """
    if "clocks" not in event and "cycles" not in event:
        return ""
    sums = counts.sum(axis=0)  # [skews, events]
    time = sum(sums[0, EVENT_INDEX[each]] for each in ("cycles", "cpu_clocks_halted"))
    column = EVENT_INDEX[event]
    return f"{100 * (sums[1, column] - sums[0, column]) / time:+.3f} %"


def farthest(counts: Totals) -> list[str]:
    """The counters that change most, the largest change first."""
    exact, ahead = counts.sum(axis=0)  # [events] each
    counted = [event for event, column in EVENT_INDEX.items() if exact[column] >= LEAST]

    def move(event: str) -> float:
        return abs(ahead[EVENT_INDEX[event]] / exact[EVENT_INDEX[event]] - 1)

    return sorted(counted, key=move, reverse=True)[:SHOWN]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--programs", type=int, default=16)
    args = parser.parse_args()
    programs = [core.Program(mixed_program(seed)) for seed in range(args.programs)]
    counts_of = {machine: totals(machine, programs) for machine in MACHINES}
    print(heading("machine", *COUNTERS))
    for machine, counts in counts_of.items():
        print(row(machine, *(move_of(counts, each) for each in COUNTERS)))
    print("\n| machine | counter | events | moves by | of the threads' time |")
    print("|---|---|---|---|---|")
    for machine, counts in counts_of.items():
        for event in farthest(counts):
            events = int(counts[:, 0, EVENT_INDEX[event]].sum())
            moves = f"{move_of(counts, event)} | {of_time(counts, event)}"
            print(f"| {machine} | {event} | {events:,} | {moves} |")


if __name__ == "__main__":
    main()
