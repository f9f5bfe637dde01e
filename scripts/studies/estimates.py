"""Show the effect of machine values without a source: each is set to its bounds, one at a time.

    python scripts/studies/estimates.py [--machine M ...] [--program P ...] [--size S]
        [--set TABLE.KEY=VALUE ...] [--into DOCUMENT]

For every value of a machine file that is recalled or has bounds the programs run again, with every
hint's best match, on the machine with the value at each of them (`autofinity/sim/sources.py`). Two
results are printed for the worse bound: the change of times (of the hint that was best, median and
worst of the programs), and its effect on the choice of the hint: the time that is lost, on the
changed machine, with the hint that was best on the shipped one. Prices of energy change no time;
for these both results are of energy. Where threads race (`bfs`), the least change alters the course
of a program, so a time is the median of five runs that differ by hundredths of the memory's
latency, and a row shows the effect of half a hundredth. With `tiny` inputs L2 and LLC are a
sixteenth (`--shrink`). `--set` prints one row instead: the effect of all these values at once.
"""

from __future__ import annotations

import argparse
import copy
import re
import statistics
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shown_table import add_into, show_table

from autofinity._core import sim as core
from autofinity.affinity.enumerate import place
from autofinity.checked_file import read_toml
from autofinity.model.errors import TopologyError
from autofinity.model.topology import OsIndex
from autofinity.profiling.selection import best_matches
from autofinity.report import markdown
from autofinity.resources import shipped
from autofinity.sim.draws import shrunk
from autofinity.sim.preset_machine import whole_machine
from autofinity.sim.replay import load_program, simulate, workers_of
from autofinity.sim.result import SimResult
from autofinity.sim.sources import RECALLED_WITHIN, Sourced, alternatives, sourced_values
from autofinity.sim.spec import MachineSpec
from autofinity.workflow.capture import capture
from autofinity.workflow.wanted import wanted_on

HERE = Path(__file__).resolve().parents[2]
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
SHAKES = (-0.02, -0.01, 0.0, 0.01, 0.02)
"""Shares by which memory is slower in the runs whose median counts."""
SMALLEST = 0.005
"""Share by which memory is slower in the row for the smallest change."""
type Costs = list[float]
"""Seconds or joules of a program, one a hint."""
type Runs = list[list[SimResult]]
"""Runs of a program: for each hint one for each of `SHAKES`."""


@dataclass(frozen=True)
class Case:
    """A program, ready to be replayed."""

    program: core.Program
    workers: tuple[int, ...]


@dataclass(frozen=True)
class Effect:
    """Effect of a value's worse bound."""

    median: float
    worst: float
    lost: float

    @property
    def seen(self) -> bool:
        """Whether any of the three is printed as more than 0.0 %."""
        return max(self.worst, self.lost) >= 0.0005


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--machine", action="append", default=[], dest="machines")
    words.add_argument("--program", action="append", default=[], dest="programs")
    words.add_argument("--size", default="tiny")
    words.add_argument("--shrink", type=int, default=16, help="divide the sets of L2 and LLC")
    words.add_argument("--work", type=Path, default=HERE / "build" / "draws")
    add_into(words)
    words.add_argument(
        "--set",
        action="append",
        default=[],
        dest="values",
        metavar="TABLE.KEY=VALUE",
        help="only what these values do, all at once; VALUE as in TOML",
    )
    asked = words.parse_args()
    show_table(table(asked), asked.into, "scripts/studies/estimates.py")


def table(asked: argparse.Namespace) -> Iterator[str]:
    yield "| machine | value | | tried | of | median | worst | choice loses |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in asked.machines or MACHINES:
        bench = Bench(name, asked)
        yield from [bench.row_of(asked.values)] if asked.values else bench.rows()


def captured(programs: Sequence[str], size: str, work: Path, threads: int) -> list[Case]:
    """The programs' traces, captured where they are missing."""
    wanted = wanted_on(MACHINES[0], programs=tuple(programs), sizes=(size,), work=work)
    traces = [program.request.program for program in capture(wanted, threads)]
    return [Case(load_program(trace), workers_of(trace, threads)) for trace in traces]


class Bench:
    """A machine and the results of the programs on the shipped version."""

    def __init__(self, name: str, asked: argparse.Namespace) -> None:
        self.name = name
        self.path = shipped("data", "machines", f"{name}.toml")
        self.document: Any = read_toml(self.path, TopologyError)
        self.shrink: int = asked.shrink
        self.spec = self.machine(self.document)
        # With as many threads as cores there is nothing to choose.
        threads = min(8, self.spec.topology.n_cores // 2)
        self.cases = captured(asked.programs or PROGRAMS, asked.size, asked.work, threads)
        self.seats = seats_of(self.spec, threads)
        self.runs = [replayed(self.spec, case, self.seats) for case in self.cases]
        self.times = [seconds(runs) for runs in self.runs]

    def machine(self, document: Mapping[str, object]) -> MachineSpec:
        return shrunk(whole_machine(document), self.shrink)

    def in_time(self, changed: MachineSpec) -> Effect:
        after = [seconds(replayed(changed, case, self.seats)) for case in self.cases]
        return effect(self.times, after)

    def in_energy(self, changed: MachineSpec) -> Effect:
        before, after = ([joules(of, runs) for runs in self.runs] for of in (self.spec, changed))
        return effect(before, after)

    def row_of(self, values: Sequence[str]) -> str:
        """The effect of all `TABLE.KEY=VALUE` at once; ends the program where one is not valid."""
        changed = copy.deepcopy(self.document)
        for value in values:
            key, _, text = value.partition("=")
            *tables, last = key.split(".")
            inner = changed
            try:
                for table in tables:
                    inner = inner[table]
                inner[last] = tomllib.loads(f"value = {text}")["value"]
            except (KeyError, TypeError, tomllib.TOMLDecodeError):
                sys.exit(
                    f"--set {value}: expected TABLE.KEY=VALUE, a table of {self.name}'s machine "
                    "file and a value as in TOML, such as --set 'llc.inclusion=\"victim\"'"
                )
        worse = self.in_time(self.machine(changed))
        return text_row(
            self.name, ", ".join(f"`{value}`" for value in values), "", "", "time", worse
        )

    def rows(self) -> list[str]:
        """A row for each value of the machine that has alternatives, the largest effect first."""
        found: list[tuple[Effect, str, str]] = []
        for each in sourced_values(self.path.read_text(encoding="utf-8")):
            others = alternatives(each, looked_up(self.document, each)[each.key])
            if not others:
                continue
            effects = []
            for other in others:
                changed = copy.deepcopy(self.document)
                looked_up(changed, each)[each.key] = other
                of = self.in_energy if each.table == "energy" else self.in_time
                effects.append(of(self.machine(changed)))
            worse = max(effects, key=lambda e: (e.lost, e.worst))
            found.append((worse, row(self.name, each, others, worse), key_of(each)))
        found.sort(key=lambda one: (-one[0].lost, -one[0].worst))
        little = self.in_time(shaken(self.spec, SMALLEST))
        shown = [text_row(self.name, f"*memory {SMALLEST:.1%} slower*", "", "", "time", little)]
        shown += [text for worse, text, _ in found if worse.seen]
        unseen = ", ".join(sorted(key for worse, _, key in found if not worse.seen))
        if unseen:
            shown.append(f"| {self.name} | {unseen} | | | | <0.1% | <0.1% | <0.1% |")
        return shown


def looked_up(document: Any, each: Sourced) -> Any:
    """The table of the document that holds the value."""
    for part in filter(None, each.table.split(".")):
        document = document[part]
    return document


def seats_of(spec: MachineSpec, threads: int) -> list[list[OsIndex]]:
    """PUs of the threads in the best match of every hint."""
    topology = spec.topology
    return [sorted(place(topology, affinity).cpus) for affinity in best_matches(topology, threads)]


def shaken(spec: MachineSpec, by: float) -> MachineSpec:
    """The machine with memory slower by the share `by`."""
    dram = tuple(ns * (1 + by) for ns in spec.latency.dram)
    return replace(spec, latency=replace(spec.latency, dram=dram))


def replayed(spec: MachineSpec, case: Case, seats: Sequence[list[OsIndex]]) -> Runs:
    machines = [shaken(spec, by) for by in SHAKES]
    return [
        [simulate(machine, case.program, cpus, workers=case.workers) for machine in machines]
        for cpus in seats
    ]


def seconds(runs: Runs) -> Costs:
    return [statistics.median(result.roi_ns * 1e-9 for result in results) for results in runs]


def joules(of: MachineSpec, runs: Runs) -> Costs:
    return [statistics.median(result.energy_j(of) for result in results) for results in runs]


def effect(before: Sequence[Costs], after: Sequence[Costs]) -> Effect:
    """The effect of a change, from the cost of every program with every hint."""
    best = [costs.index(min(costs)) for costs in before]
    moves = [abs(new[i] / old[i] - 1) for old, new, i in zip(before, after, best, strict=True)]
    lost = [new[i] / min(new) - 1 for new, i in zip(after, best, strict=True)]
    return Effect(statistics.median(moves), max(moves), max(lost))


def key_of(each: Sourced) -> str:
    return f"`{each.table}.{each.key}`" if each.table else f"`{each.key}`"


def row(name: str, each: Sourced, others: Sequence[object], worse: Effect) -> str:
    tried = ", ".join(map(str, others))
    if len(tried) > 20:
        found = re.search(r"±\d+ %|[\d.]+\.\.[\d.]*\d", each.comment)
        tried = found[0] if found else f"±{RECALLED_WITHIN:.0%}"
    of = "energy" if each.table == "energy" else "time"
    return text_row(name, key_of(each), each.mark or "", tried, of, worse)


def text_row(name: str, what: str, mark: str, tried: str, of: str, worse: Effect) -> str:
    effects = (f"{part:.1%}" for part in (worse.median, worse.worst, worse.lost))
    return markdown.row(name, what, mark, tried, of, *effects)


if __name__ == "__main__":
    main()
