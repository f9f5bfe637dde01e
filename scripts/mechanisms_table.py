#!/usr/bin/env python3
"""The papers' figures of each mechanism beside ours, on the papers' machines.

    PYTHONPATH=. python scripts/mechanisms_table.py [--programs a,b] [--size tiny] [--seeds 1]
        [--repeats 30] [--machine NAME]… [--workers N] [--work FOLDER] [--into docs/mechanisms.md]

Runs `autofinity compare` on every machine (an interrupted run goes on where it stopped) and prints
two tables as Markdown. The first has a row for each figure that a paper gives as a mean over its
programs: time against the operating system, and of the oracle. The second has all mechanisms on all
machines. With --into they replace what stands between the script's marks in that document.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autofinity.report.marked import put_between_marks

COMMAND = "scripts/mechanisms_table.py"
PROGRAMS = "prodcons,bfs,align,lu,dedup,fluid"
OTHERS = ("distributed", "autofinity", "unified", "oracle-affinity", "oracle-trace")
"""Beside those that papers give figures of."""


@dataclass(frozen=True)
class Paper:
    """What a paper says of a mechanism on a machine, as a mean over its programs."""

    mechanism: str
    time: float
    """Against the operating system."""
    of_oracle: float | None
    overhead: str
    source: str


def faster(percent: float) -> float:
    """A performance improvement as a ratio of times."""
    return 1 / (1 + percent / 100)


KMAF16, KMAF14 = "kMAF'16, section 6.1", "kMAF'14, sections 5.1, 5.3, 5.4"
SAMMU, TLB = "SAMMU, sections 4.2, 4.4", "TLB paper, table II, geometric mean of 9"
PAPERS: Mapping[tuple[str, int], Sequence[Paper]] = {
    ("xeon-x7550", 64): (
        Paper("compact", faster(6.7), 1.067 / 1.177, "", f"{KMAF16}, figure 5"),
        Paper("numa-balancing", faster(0.8), 1.008 / 1.177, "", f"{KMAF16}, figure 5"),
        Paper("kmaf16", faster(13.6), 1.136 / 1.177, "2.4 % (SP)", f"{KMAF16}, figure 5, table 5"),
        Paper("oracle-trace", faster(17.7), 1.0, "none", f"{KMAF16}, figure 5"),
        Paper("compact", 0.968, 0.847 / 0.968, "", f"{KMAF14}, figure 7"),
        Paper("random", 0.988, 0.847 / 0.988, "", f"{KMAF14}, figure 7"),
        Paper("kmaf14", 0.862, 0.847 / 0.862, "1.8 %", f"{KMAF14}, figures 7, 12"),
        Paper("oracle-trace", 0.847, 1.0, "none", f"{KMAF14}, figure 7"),
        Paper("sammu", 0.869, None, "0.41 % + 0.29 %", f"{SAMMU}, figure 3"),
    ),
    ("altix-450", 8): (
        Paper("compact", faster(1.7), 1.017 / 1.143, "", f"{KMAF16}, figure 4"),
        Paper("kmaf16", faster(9.4), 1.094 / 1.143, "", f"{KMAF16}, figure 4"),
        Paper("oracle-trace", faster(14.3), 1.0, "none", f"{KMAF16}, figure 4"),
    ),
    ("opteron-6386", 64): (
        Paper("compact", faster(7.7), 1.077 / 1.42, "", f"{KMAF16}, figure 6"),
        Paper("carrefour", faster(11.6), 1.116 / 1.42, "", f"{KMAF16}, figure 6"),
        Paper("numa-balancing", faster(10.4), 1.104 / 1.42, "", f"{KMAF16}, figure 6"),
        Paper("kmaf16", faster(29.8), 1.298 / 1.42, "", f"{KMAF16}, figure 6"),
        Paper("oracle-trace", faster(42.0), 1.0, "none", f"{KMAF16}, figure 6"),
    ),
    ("kmaf16-simulated", 8): (),
    ("xeon-e5-2650", 32): (Paper("tlb", 0.958, None, "< 0.5 %", TLB),),
}
"""Preset and threads → figures; none: a machine of a paper's on which all mechanisms are run.
AutoFinity's figures are in docs/policy-study.md.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=PROGRAMS)
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--machine", action="append", help="of those with figures; default: all")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--into", type=Path, help="put the tables between their marks in it")
    wanted = parser.parse_args()
    known = [name for name, _ in PAPERS]
    for name in wanted.machine or ():
        if name not in known:
            parser.error(
                f"--machine {name}: no paper gives figures for it; expected one of {known}"
            )
    found = {
        (machine, threads): compared(machine, threads, papers, wanted)
        for (machine, threads), papers in PAPERS.items()
        if not wanted.machine or machine in wanted.machine
    }
    text = f"{beside_papers(found)}\n\n{all_of_ours(found)}"
    if wanted.into is None:
        print(text)
    else:
        put_between_marks(wanted.into, COMMAND, text)


def compared(
    machine: str, threads: int, papers: Sequence[Paper], wanted: argparse.Namespace
) -> dict[str, Any]:
    """The summary of `autofinity compare`, by mechanism."""
    names = dict.fromkeys([*(paper.mechanism for paper in papers), *OTHERS]) if papers else ()
    arguments = {
        "machine": machine,
        "threads": threads,
        "mechanisms": ",".join(names),
        "programs": wanted.programs,
        "size": wanted.size,
        "seeds": wanted.seeds,
        "repeats": wanted.repeats,
        "workers": wanted.workers,
        **({} if wanted.work is None else {"work": wanted.work}),
    }
    line = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
    done = subprocess.run(
        [sys.executable, "-m", "autofinity", "compare", *line, "--json"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    summary: dict[str, Any] = json.loads(done.stdout)["summary"]
    return summary


def beside_papers(found: Mapping[tuple[str, int], Mapping[str, Any]]) -> str:
    """All figures of the papers; ours are empty for machines that were not run."""
    lines = [
        "| machine, threads | mechanism | time / OS, paper | ours | 95 % | of the oracle, paper | "
        "ours | overhead, paper | ours | source |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (machine, threads), papers in PAPERS.items():
        for paper in papers:
            ours = found.get((machine, threads), {}).get(paper.mechanism)
            time, edges, of_oracle, overhead = (
                ("", "", "", "")
                if ours is None
                else (
                    number(ours["time_vs_os"]),
                    interval(ours["time_vs_os_interval"]),
                    number(ours["of_oracle"]),
                    f"{ours['overhead']:.2%}",
                )
            )
            lines.append(
                f"| {machine}, {threads} | {paper.mechanism} | {paper.time:.3f} | {time} | "
                f"{edges} | "
                f"{number(paper.of_oracle)} | {of_oracle} | {paper.overhead} | {overhead} | "
                f"{paper.source} |"
            )
    return "\n".join(lines)


def all_of_ours(found: Mapping[tuple[str, int], Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for summary in found.values() for name in summary))
    machines = [f"{machine}, {threads}" for machine, threads in found]
    lines = [
        f"| mechanism | {' | '.join(machines)} |",
        f"|---|{'---|' * len(machines)}",
    ]
    for name in names:
        cells = []
        for summary in found.values():
            of = summary.get(name)
            cells.append(
                ""
                if of is None
                else f"{number(of['time_vs_os'])} ({number(of['of_oracle'])}, {of['overhead']:.2%})"
            )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "Time / OS (of the oracle, overhead)."])


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def interval(edges: Sequence[float | None]) -> str:
    return "-".join(map(number, edges)) if all(edge is not None for edge in edges) else ""


if __name__ == "__main__":
    main()
