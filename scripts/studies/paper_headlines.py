#!/usr/bin/env python3
"""The papers' headline figures beside ours, on real data in runs that stand for a minute.

    python scripts/studies/paper_headlines.py [--table headlines|causes|unified|programs]…
        [--work FOLDER] [--kept] [--into docs/papers.md]

- headlines: a row for each figure that a paper's text gives of its mechanism. The interval is over
  programs; pages have one colouring. A figure is met where ours is as good; else it may be within
  the interval.
- causes: the same programs where one thing is changed.
- unified: ours beside autofinity and kmaf16, program by program.
- programs: what ran, and the memory that it touches.

`minute_mechanisms.py` says what is charged. An interrupted run continues where it stopped;
with --kept nothing runs, and rows without runs are left out.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TypedDict, Unpack

import numpy as np
from minute_mechanisms import MINUTE_S, ROOT, Filled, Ground, Minutes

from autofinity.evaluation.bootstrap import DRAWS, LEVEL
from autofinity.evaluation.comparison_summary import FIGURES
from autofinity.evaluation.times import geometric_mean
from autofinity.mechanisms.registry import BASELINE
from autofinity.model.mechanism_run import MechanismRun
from autofinity.papers.bars import Bars
from autofinity.papers.kmaf16 import table_5
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.registry import OF_MECHANISMS
from autofinity.papers.tlb.paper import TABLE_II
from autofinity.papers.values import AS_THEY_ARE
from autofinity.report.marked import put_between_marks

COMMAND = "scripts/studies/paper_headlines.py"
PAPERS_ORACLE = "oracle-trace"
CC13, X7550, OPTERON = "opteron-6164he", "xeon-x7550", "opteron-6386"
E5, ALTIX = "xeon-e5-2650", "altix-450"
BIG = {"adi": "96 1", "ssor": "80 1", "amr": "24 11"}
SMALL = {"adi": "80 1", "ssor": "64 1", "amr": "21 6"}
INPUTS: Mapping[str, Mapping[str, str]] = {
    X7550: BIG,
    OPTERON: BIG,
    E5: BIG,
    ALTIX: SMALL,
}
"""The papers' machines; solvers as NAS's SP, LU and UA, some steps over data that exceed a node's
caches."""
AS_NAS = {"adi": "SP, BT", "ssor": "LU", "amr": "UA"}
STATIC = (BASELINE, PAPERS_ORACLE)
"""The faster of which shares are of."""
TRIED = (BASELINE, "compact", PAPERS_ORACLE, "kmaf14", "kmaf16", "sammu", "tlb")
MAIN, TURN, MORE = (
    "data filled by the main thread",
    "pages on all nodes in turn",
    "130 faults a page",
)
CHANGES: Mapping[str, Change] = {
    "nothing": {},
    MAIN: {"filled": "by the main thread"},
    TURN: {"filled": "in turn"},
    MORE: {"faults_per_page": 130.0},
}
"""The last is as many faults between two mappings as in kMAF'16's table 5, of `amr`'s pages."""
PLAIN = (BASELINE, PAPERS_ORACLE, "kmaf16")
EXPERIMENTS: Mapping[tuple[str, str], Mapping[str, Sequence[str]]] = {
    (X7550, "adi"): {
        "nothing": TRIED[:-1],
        MAIN: (BASELINE, "kmaf16"),
        TURN: (BASELINE, "compact"),
    },
    (X7550, "ssor"): {"nothing": TRIED[:-1], MAIN: (BASELINE, "kmaf16")},
    (X7550, "amr"): {"nothing": (*PLAIN, "kmaf14", "sammu"), MORE: ("kmaf14", "kmaf16")},
    (OPTERON, "adi"): {"nothing": PLAIN, MAIN: (BASELINE, "kmaf16")},
    (OPTERON, "ssor"): {"nothing": PLAIN, MAIN: (BASELINE, "kmaf16")},
    (OPTERON, "amr"): {"nothing": PLAIN},
    (E5, "adi"): {"nothing": (BASELINE, PAPERS_ORACLE, "tlb")},
    (E5, "ssor"): {"nothing": (BASELINE, PAPERS_ORACLE, "tlb")},
    (ALTIX, "adi"): {"nothing": PLAIN},
    (ALTIX, "ssor"): {"nothing": PLAIN},
    (ALTIX, "amr"): {"nothing": PLAIN},
}
"""Mechanisms by machine, program and change."""
RIVALS = ("autofinity", "kmaf16")
BEHIND = 0.01


class Change(TypedDict, total=False):
    """An experiment on a ground."""

    filled: Filled
    faults_per_page: float


@dataclass(frozen=True, slots=True)
class Headline:
    """A number of a paper about its mechanism or its oracle."""

    where: str
    what: str
    quantity: str
    """One of `FIGURES`, a ratio to the operating system's, or of `AS_THEY_ARE`."""
    mechanism: str
    machine: str
    paper: float
    programs: tuple[str, ...] = ()
    """Empty: all."""


FROM_FIGURES = {
    "kmaf14": "kmaf14-7 kmaf14-8 kmaf14-9 kmaf14-10 kmaf14-12",
    "kmaf16": "kmaf16-4 kmaf16-5 kmaf16-6",
    "sammu": "sammu-3 sammu-4a sammu-4b",
    "tlb": "tlb-12a tlb-12b tlb-12c tlb-12d tlb-13a tlb-13b tlb-13c",
}
"""Means that the registry of figures has, by the mechanism of the paper."""
SP = ("adi",)
OTHERS = (
    Headline("kmaf14, abstract", "time, SP", "time", "kmaf14", X7550, 1 - 0.357, SP),
    Headline("kmaf14, section 5.2", "energy, SP", "energy", "kmaf14", X7550, 1 - 0.346, SP),
    Headline("kmaf16, section 6.1", "time, SP", "time", "kmaf16", OPTERON, 1 / (1 + 3.0), SP),
    Headline(
        "kmaf16, table 5",
        "CPU time of kMAF, SP, % of the time",
        "cpu_time",
        "kmaf16",
        X7550,
        sum(table_5.FIGURES[0].numbers.values()),
        SP,
    ),
    Headline("sammu, section 4.2", "time, SP", "time", "sammu", X7550, 1 - 0.357, SP),
    Headline("sammu, section 4.4", "accesses added, %", "transactions_added", "sammu", X7550, 1.43),
    Headline("sammu, section 4.4", "overhead, %", "overhead", "sammu", X7550, 0.41 + 0.29),
    Headline("tlb, table II", "time, SP", "time", "tlb", E5, 1 - 0.167, SP),
    Headline(
        "tlb, table II",
        "migrations",
        "mappings_changed",
        "tlb",
        E5,
        TABLE_II["mappings_changed"],
    ),
    Headline("tlb, section 6.6", "overhead, %", "overhead", "tlb", E5, 0.5),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--table", action="append", choices=TABLES, help="default: all")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "headlines")
    parser.add_argument("--into", type=Path, help="put the tables between their marks in it")
    parser.add_argument("--kept", action="store_true", help="only what has been run before")
    wanted = parser.parse_args()
    study = Study(wanted.work, only_kept=wanted.kept)
    for name in wanted.table or TABLES:
        text = "\n".join(TABLES[name](study))
        print(text, flush=True)
        if wanted.into is not None:
            put_between_marks(wanted.into, f"{COMMAND} --table {name}", text)


class Study:
    """The runs, by ground."""

    def __init__(self, work: Path, *, only_kept: bool) -> None:
        self._work, self._only_kept = work, only_kept
        self._grounds: dict[str, Minutes] = {}

    def on(self, machine: str, **change: Unpack[Change]) -> Minutes:
        """The runs on a machine."""
        key = f"{machine} {change}"
        if key not in self._grounds:
            ground = Ground(machine, INPUTS[machine], **change)
            self._grounds[key] = Minutes(ground, self._work)
        return self._grounds[key]

    def programs(
        self, machine: str, mechanisms: Sequence[str], **change: Unpack[Change]
    ) -> tuple[str, ...]:
        """Those that are run under all of the mechanisms."""
        runs = self.on(machine, **change)
        return tuple(
            name
            for name in runs.ground.inputs
            if not self._only_kept or all(runs.has(name, each) for each in mechanisms)
        )


def headlines() -> Iterator[Headline]:
    """All, paper by paper."""
    for mechanism, names in FROM_FIGURES.items():
        for name in names.split():
            yield from _of_figure(OF_MECHANISMS[name], mechanism)
        yield from (other for other in OTHERS if other.mechanism == mechanism)


def _of_figure(figure: MechanismFigure[object], mechanism: str) -> Iterator[Headline]:
    bars = figure.study
    assert isinstance(bars, Bars)
    unit = ", % of the time" if bars.quantity == "cpu_time" else ""
    for of in (mechanism, PAPERS_ORACLE):
        if of in figure.numbers:
            yield Headline(
                f"{figure.paper.prefix}{figure.number}, section {figure.section}",
                figure.title + unit,
                bars.quantity,
                of,
                figure.default_machine,
                figure.numbers[of],
            )


def compared(study: Study) -> Iterator[str]:
    """A row for each headline."""
    yield row(
        *("where", "what", "of", "machine, threads", "paper", "ours", "95 %", "met"),
    )
    yield f"|{'---|' * 8}"
    yield from _of_autofinity()
    for headline in headlines():
        runs = study.on(headline.machine)
        names = study.programs(headline.machine, (BASELINE, headline.mechanism))
        names = tuple(name for name in headline.programs or names if name in names)
        if not names:
            continue
        found = [quantity_of(runs, name, headline.mechanism, headline.quantity) for name in names]
        ratio = headline.quantity in FIGURES
        ours, (low, high) = mean(found, ratio), interval(found, ratio)
        yield row(
            headline.where,
            headline.what,
            f"`{headline.mechanism}`",
            f"`{headline.machine}`, {runs.ground.count}",
            f"{headline.paper:.3f}",
            f"{ours:.3f}",
            f"{low:.3f}-{high:.3f}" if len(names) > 1 else "–",
            met(ours, low, headline.paper),
        )


def _of_autofinity() -> Iterator[str]:
    """Rows with what `paper_method.py` printed last (docs/learners.md)."""
    printed = (ROOT / "docs" / "learners.md").read_text(encoding="utf-8").splitlines()
    where = "CC'13, section 3.6"
    for method in ("`--paper`: JRip", "**default**"):
        cells = next(line for line in printed if line.startswith(f"| {method}")).split(" | ")
        of = "`autofinity`, " + ("`--paper`" if method.startswith("`") else "default settings")
        won, cared = _won(cells[1])
        more = _won(cells[4])
        share, _, span = cells[2].partition(" ")
        low, high = map(float, span.strip("()").split("-"))
        for what, on, paper, ours in (
            ("cases that care won", "8", (7, 9), (won, cared)),
            ("the same", "4, 8, 16, 24", (12, 15), (won + more[0], cared + more[1])),
        ):
            enough = ours[0] / ours[1] >= paper[0] / paper[1]
            shown = (f"{a} of {b}" for a, b in (paper, ours))
            yield row(where, what, of, f"`{CC13}`, {on}", *shown, "", "yes" if enough else "no")
        yield row(
            *(where, "share of the oracle", of, f"`{CC13}`, 8", "0.960", share),
            f"{low:.3f}-{high:.3f}",
            met(-float(share), -high, -0.96),
        )


def _won(cell: str) -> tuple[int, int]:
    won, cared = map(int, cell.split(" of "))
    return won, cared


def quantity_of(runs: Minutes, name: str, mechanism: str, quantity: str) -> float:
    """A quantity of a run, by the operating system's where it is one of `FIGURES`."""
    run = runs.run(name, mechanism)
    if quantity in ("overhead", "cpu_time"):
        share = 100 * overhead_of_minute(run, runs.run(name, BASELINE).time_s)
        return share * run.threads if quantity == "cpu_time" else share
    if quantity in AS_THEY_ARE:
        return AS_THEY_ARE[quantity](run)
    figure = FIGURES[quantity]
    return figure(run) / figure(runs.run(name, BASELINE))


def overhead_of_minute(run: MechanismRun, base_s: float) -> float:
    """Share of the threads' time in a minute of which the run is a picture.

    Copies of pages took their full time in the short run; the minute has as many.
    """
    copies = run.overhead_of("page copy")
    return run.overhead - copies + copies * base_s / MINUTE_S


def met(ours: float, best: float, paper: float) -> str:
    """`best` is the better end of our interval; smaller is better."""
    if ours <= paper:
        return "yes"
    return "within the interval" if best <= paper else "no"


def causes(study: Study) -> Iterator[str]:
    """Times of each program where one thing is changed, by the OS's time where nothing is."""
    yield row("machine", "program", "changed", *(f"`{each}`" for each in TRIED))
    yield f"|{'---|' * (3 + len(TRIED))}"
    for (machine, name), experiments in EXPERIMENTS.items():
        if name not in study.programs(machine, (BASELINE,)):
            continue
        base_s = study.on(machine).run(name, BASELINE).time_s
        for what, mechanisms in experiments.items():
            change = CHANGES[what]
            done = [of for of in mechanisms if name in study.programs(machine, (of,), **change)]
            runs = study.on(machine, **change)
            times = {of: f"{runs.run(name, of).time_s / base_s:.3f}" for of in done}
            if done:
                cells = (times.get(of, "") for of in TRIED)
                yield row(f"`{machine}`", name, what, *cells)


def unified(study: Study) -> Iterator[str]:
    """A row for each program and ground."""
    yield row(
        *("machine", "program", *(f"`{rival}`" for rival in RIVALS), "`unified`"),
        *("behind the better", "of the faster of `os` and `oracle-trace`", "overhead"),
    )
    yield f"|{'---|' * 8}"
    for machine in INPUTS:
        runs = study.on(machine)
        shares = []
        for name in study.programs(machine, (*STATIC, *RIVALS, "unified")):
            times = [quantity_of(runs, name, each, "time") for each in (*RIVALS, "unified")]
            behind = times[-1] / min(times[:-1]) - 1
            run = runs.run(name, "unified")
            best_s = min(runs.run(name, each).time_s for each in STATIC)
            shares.append(best_s / run.time_s)
            overhead = overhead_of_minute(run, runs.run(name, BASELINE).time_s)
            yield row(
                *(f"`{machine}`", name, *(f"{time:.3f}" for time in times)),
                f"{behind:+.1%}" if behind <= BEHIND else f"**{behind:+.1%}**",
                *(f"{shares[-1]:.3f}", f"{overhead:.2%}"),
            )
        if len(shares) > 1:
            share = f"{geometric_mean(shares):.3f}"
            yield row(f"`{machine}`", "mean", "", "", "", "", share, "")


def programs(study: Study) -> Iterator[str]:
    """A row for each program of each machine."""
    yield "| machine, threads | program | as NAS's | arguments | memory, MiB | OS's time, ms |"
    yield f"|{'---|' * 6}"
    for machine in INPUTS:
        runs = study.on(machine)
        for name in study.programs(machine, (BASELINE,)):
            arguments = runs.ground.inputs[name]
            yield row(
                *(f"`{machine}`, {runs.ground.count}", name, AS_NAS[name], f"`{arguments}`"),
                f"{runs.touched_mib(name):.0f}",
                f"{1e3 * runs.run(name, BASELINE).time_s:.1f}",
            )


def mean(found: Sequence[float], ratio: bool) -> float:
    """Over programs: geometric of ratios, else arithmetic."""
    return geometric_mean(list(found)) if ratio else fmean(found)


def interval(found: Sequence[float], ratio: bool, seed: int = 1) -> tuple[float, float]:
    """Percentiles of the mean over random samples of the programs, with replacement."""
    values = np.log(found) if ratio else np.array(found)
    draw = np.random.default_rng(seed)
    drawn = values[draw.integers(len(values), size=(DRAWS, len(values)))].mean(axis=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return (math.exp(low), math.exp(high)) if ratio else (float(low), float(high))


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


TABLES: Mapping[str, Callable[[Study], Iterator[str]]] = {
    "programs": programs,
    "headlines": compared,
    "causes": causes,
    "unified": unified,
}


if __name__ == "__main__":
    main()
