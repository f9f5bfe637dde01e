"""What do the values without a source decide? Each is set to its bounds, one at a time.

    python scripts/estimates.py [--machine M ...] [--program P ...] [--size S] [--into DOCUMENT]

For every value of a machine file that is recalled or has bounds the programs run again, with every
hint's best match, on the machine with the value at each of them (`autofinity/sim/sources.py`). Two
things are printed, of the worse bound: by how much times change (of the hint that was best, median
and worst of the programs), and what the choice of the hint hangs on it: the time that is lost, on
the changed machine, with the hint that was best on the shipped one. Prices of energy change no
time; there both are of energy. With `tiny` inputs L2 and LLC are a sixteenth (`--shrink`).
"""

from __future__ import annotations

import argparse
import copy
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autofinity._core import sim as core
from autofinity.affinity.enumerate import place
from autofinity.cli.campaign import Wanted, capture
from autofinity.model.topology import OsIndex
from autofinity.profiling.selection import best_matches
from autofinity.report.marked import put_between_marks
from autofinity.resources import shipped
from autofinity.sim.draws import shrunk
from autofinity.sim.fields import Fields
from autofinity.sim.preset import read_document
from autofinity.sim.preset_machine import whole_machine
from autofinity.sim.replay import load_program, simulate, workers_of
from autofinity.sim.result import SimResult
from autofinity.sim.sources import RECALLED_WITHIN, Sourced, alternatives, sourced_values
from autofinity.sim.spec import MachineSpec
from autofinity.trace.manifest import load_suite

HERE = Path(__file__).resolve().parents[1]
MACHINES = (
    "opteron-6164he",
    "xeon-x7550",
    "xeon-e5-2650",
    "kmaf16-simulated",
    "epyc-9654",
    "tlb-simulated",
)
PROGRAMS = (
    *("align", "bfs", "cg", "dedup", "fft", "groupby"),
    *("join", "kmedian", "pic", "prodcons", "sor", "stencil"),
)
type Costs = list[float]
"""Seconds or joules of a program, one a hint."""


@dataclass(frozen=True)
class Case:
    """A program, ready to be replayed."""

    program: core.Program
    workers: tuple[int, ...]


@dataclass(frozen=True)
class Effect:
    """Of a value's worse bound."""

    median: float
    worst: float
    lost: float

    @property
    def seen(self) -> bool:
        """Whether any of the three is not 0.0 % when it is printed."""
        return max(self.worst, self.lost) >= 0.0005


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--machine", action="append", default=[], dest="machines")
    words.add_argument("--program", action="append", default=[], dest="programs")
    words.add_argument("--size", default="tiny")
    words.add_argument("--shrink", type=int, default=16, help="divide the sets of L2 and LLC")
    words.add_argument("--work", type=Path, default=HERE / "build" / "draws")
    words.add_argument("--into", type=Path, help="a document with marks for the table")
    asked = words.parse_args()
    lines = [
        "| machine | value | | tried | of | median | worst | choice loses |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in asked.machines or MACHINES:
        for row in rows_of(name, asked):
            print(row, flush=True)
            lines.append(row)
    if asked.into is not None:
        put_between_marks(asked.into, "scripts/estimates.py", "\n".join(lines))


def captured(programs: Sequence[str], size: str, work: Path, threads: int) -> list[Case]:
    """The programs' traces, made where there are none."""
    wanted = Wanted(
        machine=MACHINES[0],
        suite=load_suite(HERE / "training" / "suite.toml"),
        programs=tuple(programs),
        size=size,
        threads=(threads,),
        jobs=1,
        work=work,
    )
    traces = [subject.request.program for subject in capture(wanted, threads)]
    return [Case(load_program(trace), workers_of(trace, threads)) for trace in traces]


def rows_of(name: str, asked: argparse.Namespace) -> list[str]:
    """A row for each value of the machine that has alternatives, the weightiest first."""
    path = shipped("data", "machines", f"{name}.toml")
    document: Any = read_document(path)

    def machine(changed: Mapping[str, object]) -> MachineSpec:
        return shrunk(whole_machine(Fields(path, "", changed)), asked.shrink)

    spec = machine(document)
    threads = min(
        8, spec.topology.n_cores // 2
    )  # on as many as there are cores is nothing to choose
    cases = captured(asked.programs or PROGRAMS, asked.size, asked.work, threads)
    seats = seats_of(spec, threads)
    plain = [replayed(spec, case, seats) for case in cases]
    found: list[tuple[Effect, str, str]] = []
    for each in sourced_values(path.read_text(encoding="utf-8")):
        others = alternatives(each, looked_up(document, each)[each.key])
        if not others:
            continue
        effects = []
        for other in others:
            changed = copy.deepcopy(document)
            looked_up(changed, each)[each.key] = other
            effects.append(effect(spec, machine(changed), each, cases, seats, plain))
        worse = max(effects, key=lambda e: (e.lost, e.worst))
        found.append((worse, row(name, each, others, worse), key_of(each)))
    found.sort(key=lambda one: (-one[0].lost, -one[0].worst))
    shown = [text for worse, text, _ in found if worse.seen]
    unseen = ", ".join(sorted(key for worse, _, key in found if not worse.seen))
    return [*shown, f"| {name} | {unseen} | | | | <0.1% | <0.1% | <0.1% |"] if unseen else shown


def looked_up(document: Any, each: Sourced) -> Any:
    """The table of the document that the value is in."""
    for part in filter(None, each.table.split(".")):
        document = document[part]
    return document


def seats_of(spec: MachineSpec, threads: int) -> list[list[OsIndex]]:
    """PUs of the threads in the best match of every hint."""
    topology = spec.topology
    return [sorted(place(topology, affinity).cpus) for affinity in best_matches(topology, threads)]


def replayed(spec: MachineSpec, case: Case, seats: Sequence[list[OsIndex]]) -> list[SimResult]:
    return [simulate(spec, case.program, cpus, workers=case.workers) for cpus in seats]


def effect(
    spec: MachineSpec,
    changed: MachineSpec,
    each: Sourced,
    cases: Sequence[Case],
    seats: Sequence[list[OsIndex]],
    plain: Sequence[list[SimResult]],
) -> Effect:
    """What the change does to times, or, of a price of energy, to energies."""
    before: list[Costs]
    after: list[Costs]
    if each.table == "energy":
        before, after = (
            [[result.energy_j(of) for result in results] for results in plain]
            for of in (spec, changed)
        )
    else:
        before = [[result.roi_ns * 1e-9 for result in results] for results in plain]
        after = [
            [result.roi_ns * 1e-9 for result in replayed(changed, case, seats)] for case in cases
        ]
    best = [costs.index(min(costs)) for costs in before]
    moves = [abs(new[i] / old[i] - 1) for old, new, i in zip(before, after, best, strict=True)]
    lost = [new[i] / min(new) - 1 for new, i in zip(after, best, strict=True)]
    return Effect(statistics.median(moves), max(moves), max(lost))


def key_of(each: Sourced) -> str:
    return f"`{each.table}.{each.key}`" if each.table else f"`{each.key}`"


def row(name: str, each: Sourced, others: Sequence[object], worse: Effect) -> str:
    tried = ", ".join(map(str, others))
    if len(tried) > 20:
        found = re.search(r"±\d+ %", each.comment)
        tried = found[0] if found else f"±{RECALLED_WITHIN:.0%}"
    return " | ".join(
        (
            f"| {name}",
            key_of(each),
            each.mark or "",
            tried,
            "energy" if each.table == "energy" else "time",
            f"{worse.median:.1%}",
            f"{worse.worst:.1%}",
            f"{worse.lost:.1%} |",
        )
    )


if __name__ == "__main__":
    main()
