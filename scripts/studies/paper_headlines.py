#!/usr/bin/env python3
"""The papers' headline figures beside ours, on data of some MiB in runs that stand for a minute.

    python scripts/studies/paper_headlines.py [--table NAME]… [--work FOLDER] [--kept]
        [--into docs/papers.md]

- headlines: a row for each figure that a paper's text gives of its mechanism. The interval is over
  programs; pages have one colouring. A figure is met where ours is as good; else it may be within
  the interval.
- causes: the same programs where one thing is changed.
- planes: adi with other grids, whose planes are shared out evenly, or are not.
- halves: kMAF's thread mapping and page mapping, each alone, beside those of the papers' oracle.
- partners: transfers between caches that TLB matching leaves, beside the papers' oracle.
- unified: ours beside autofinity and kmaf16, program by program, and its share of the fastest run
  that is kept of the program there, under whichever mechanism: never more than 1.
- programs: what ran, the memory that it touches, and what all last-level caches hold.

`minute_mechanisms.py` says what is charged. An interrupted run continues where it stopped;
with --kept nothing runs, and rows without runs are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from headline_figures import ALTIX, CC13, E5, OPTERON, PAPERS_ORACLE, X7550, headlines
from headline_runs import (
    INPUTS,
    Change,
    Study,
    interval,
    mean,
    met,
    quantity_of,
)
from minute_mechanisms import ROOT, Minutes
from shown_table import add_into, show_table

from autofinity.evaluation.comparison_summary import FIGURES
from autofinity.evaluation.times import geometric_mean
from autofinity.mechanisms.registry import BASELINE, MECHANISMS
from autofinity.report.markdown import heading, row
from autofinity.sim.preset import load_preset

COMMAND = "scripts/studies/paper_headlines.py"
AS_NAS = {"adi": "SP, BT", "ssor": "LU", "amr": "UA"}
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
HALVED: Mapping[tuple[str, str], Sequence[str]] = {
    (X7550, "adi"): (PAPERS_ORACLE, "kmaf14", "kmaf16"),
    (X7550, "amr"): (PAPERS_ORACLE, "kmaf14", "kmaf16"),
    (ALTIX, "ssor"): (PAPERS_ORACLE, "kmaf16"),
}
HALVES = {
    PAPERS_ORACLE: ("oracle-threads", "oracle-pages"),
    "kmaf14": ("kmaf14-threads", "kmaf14-pages"),
    "kmaf16": ("kmaf16-threads", "kmaf16-pages"),
}
"""Mechanisms that map threads only, and pages only."""
PLANES: Mapping[str, Sequence[int]] = {X7550: (64, 96, 128)}
"""Edges of the grids of adi on machines with 64 hardware threads."""
ON_PLANES = (BASELINE, "compact", PAPERS_ORACLE, "kmaf14", "kmaf16")
MATCHED = ("tlb", "oracle-threads", PAPERS_ORACLE)
RIVALS = ("autofinity", "kmaf16")
BEHIND = 0.01


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--table", action="append", choices=TABLES, help="default: all")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "headlines")
    add_into(parser)
    parser.add_argument("--kept", action="store_true", help="only what has been run before")
    wanted = parser.parse_args()
    study = Study(wanted.work, only_kept=wanted.kept)
    for name in wanted.table or TABLES:
        show_table(TABLES[name](study), wanted.into, f"{COMMAND} --table {name}")


def compared(study: Study) -> Iterator[str]:
    """A row for each headline."""
    yield heading("where", "what", "of", "machine, threads", "paper", "ours", "95 %", "met")
    yield from _of_autofinity()
    for headline in headlines():
        runs = study.on(headline.machine)
        names = study.programs(headline.machine, (BASELINE, headline.mechanism))
        names = tuple(name for name in headline.programs or names if name in names)
        if not names:
            continue
        found = [quantity_of(runs, name, headline.mechanism, headline.quantity) for name in names]
        ratio = headline.quantity in FIGURES
        ours, span = mean(found, ratio), interval(found, ratio)
        yield row(
            headline.where,
            headline.what,
            f"`{headline.mechanism}`",
            f"`{headline.machine}`, {runs.ground.count}",
            f"{headline.paper:.3f}",
            f"{ours:.3f}",
            "–" if span is None else f"{span[0]:.3f}-{span[1]:.3f}",
            met(ours, span, headline.paper),
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
            met(-float(share), (-high, -low), -0.96),
        )


def _won(cell: str) -> tuple[int, int]:
    won, cared = map(int, cell.split(" of "))
    return won, cared


def causes(study: Study) -> Iterator[str]:
    """Times of each program where one thing is changed, by the OS's time where nothing is."""
    yield heading("machine", "program", "changed", *(f"`{each}`" for each in TRIED))
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


def planes(study: Study) -> Iterator[str]:
    """Times of adi by the OS's with the same grid, and how many planes a thread has."""
    yield heading("machine", "planes", "a thread", *(f"`{each}`" for each in ON_PLANES))
    for machine, edges in PLANES.items():
        for edge in edges:
            change: Change = {"inputs": {"adi": f"{edge} 1"}}
            if not study.programs(machine, ON_PLANES, **change):
                continue
            runs = study.on(machine, **change)
            least, more = divmod(edge, runs.ground.count)
            each_has = f"{least} or {least + 1}" if more else f"{least}"
            times = (f"{quantity_of(runs, 'adi', of, 'time'):.3f}" for of in ON_PLANES)
            yield row(f"`{machine}`", str(edge), each_has, *times)


def halves(study: Study) -> Iterator[str]:
    """Times of each program by the OS's, under whole mechanisms and their halves."""
    yield heading("machine", "program", "mechanism", "both", "threads only", "pages only")
    for (machine, name), mechanisms in HALVED.items():
        runs = study.on(machine)
        for whole in mechanisms:
            parts = (whole, *HALVES[whole])
            if name in study.programs(machine, (BASELINE, *parts)):
                times = (f"{quantity_of(runs, name, each, 'time'):.3f}" for each in parts)
                yield row(f"`{machine}`", name, f"`{whole}`", *times)


def partners(study: Study) -> Iterator[str]:
    """Time and transfers of each program by the OS's, and how often threads were moved."""
    yield heading("program", "mechanism", "time", "cache-to-cache transfers", "migrations")
    runs = study.on(E5)
    for name in study.programs(E5, (BASELINE, *MATCHED)):
        for each in MATCHED:
            time, transfers, moves = (
                quantity_of(runs, name, each, what)
                for what in ("time", "cache_to_cache", "mappings_changed")
            )
            yield row(name, f"`{each}`", f"{time:.3f}", f"{transfers:.3f}", f"{moves:.0f}")


def unified(study: Study) -> Iterator[str]:
    """A row for each program and ground."""
    yield heading(
        *("machine", "program", *(f"`{rival}`" for rival in RIVALS), "`unified`"),
        *("behind the better", "of the fastest run kept", "overhead"),
    )
    for machine in INPUTS:
        runs = study.on(machine)
        shares = []
        for name in study.programs(machine, (BASELINE, PAPERS_ORACLE, *RIVALS, "unified")):
            times = [quantity_of(runs, name, each, "time") for each in (*RIVALS, "unified")]
            behind = times[-1] / min(times[:-1]) - 1
            run = runs.run(name, "unified")
            shares.append(_fastest_kept_s(runs, name) / run.time_s)
            overhead = run.overhead
            yield row(
                *(f"`{machine}`", name, *(f"{time:.3f}" for time in times)),
                f"{behind:+.1%}" if behind <= BEHIND else f"**{behind:+.1%}**",
                *(f"{shares[-1]:.3f}", f"{overhead:.2%}"),
            )
        if len(shares) > 1:
            share = f"{geometric_mean(shares):.3f}"
            yield row(f"`{machine}`", "mean", "", "", "", "", share, "")


def _fastest_kept_s(runs: Minutes, name: str) -> float:
    """The papers' oracle is no bound: it maps by sharing alone, and `compact` may be faster."""
    kept = [each for each in MECHANISMS if runs.has(name, each)]
    return min(runs.run(name, each).time_s for each in kept)


def programs(study: Study) -> Iterator[str]:
    """A row for each program of each machine."""
    heads = ("machine, threads", "program", "as NAS's", "arguments", "memory, MiB")
    yield heading(*heads, "all LLCs, MiB", "OS's time, simulated, ms")
    for machine in INPUTS:
        runs = study.on(machine)
        topology = load_preset(machine).topology
        caches_mib = topology.n_llcs * topology.llc_bytes / 2**20
        for name in study.programs(machine, (BASELINE,)):
            arguments = runs.ground.inputs[name]
            yield row(
                *(f"`{machine}`, {runs.ground.count}", name, AS_NAS[name], f"`{arguments}`"),
                f"{runs.touched_mib(name):.0f}",
                f"{caches_mib:.0f}",
                f"{1e3 * runs.simulated_s(name):.1f}",
            )


TABLES: Mapping[str, Callable[[Study], Iterator[str]]] = {
    "programs": programs,
    "headlines": compared,
    "causes": causes,
    "planes": planes,
    "halves": halves,
    "partners": partners,
    "unified": unified,
}


if __name__ == "__main__":
    main()
