#!/usr/bin/env python3
"""Compare the papers' figures of each mechanism with ours, on the papers' machines.

    python scripts/studies/mechanisms_table.py [--table times|quantities|suite]…
        [--jobs N] [--work FOLDER] [--into docs/mechanisms.md]

Three tables as Markdown, which with --into replace the text between their marks there:

- times: time against the operating system and of the oracle, and overhead, of every mechanism that
  a paper gives a mean of. Six training programs, by `autofinity compare`.
- quantities: all other means that the papers give, by `autofinity figure`.
- suite: mechanisms on all training programs and three machines.

An interrupted run continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autofinity.mechanisms.registry import BASELINE
from autofinity.papers.bars import Bars
from autofinity.papers.beside import MEAN, OURS, PAPER
from autofinity.papers.mechanism_figure import PROGRAMS, MechanismFigure, pus_of
from autofinity.papers.registry import OF_MECHANISMS
from autofinity.report.marked import put_between_marks

COMMAND = "scripts/studies/mechanisms_table.py"
PAPERS_ORACLE = "oracle-trace"
"""Which ours are no share of: `oracle` is at least as good (docs/mechanisms.md)."""
OVERHEADS = {
    "kmaf14": "1.8 %",
    "kmaf16": "2.4 % (SP)",
    "sammu": "0.41 % + 0.29 %",
    "tlb": "< 0.5 %",
}
"""Values of kMAF'14 (section 5.4), kMAF'16 (table 5), SAMMU (4.4) and the TLB paper (6.6)."""
type Inputs = tuple[str, int]
SUITE = ("xeon-x7550", "altix-450", "kmaf16-simulated")
IN_SUITE = (
    *("packed", "distributed", "compact", "autofinity", "spcd", "kmaf14", "kmaf16", "sammu"),
    *("lapt", "tlb", "azimi", "autopin", "marathe", "numa-balancing", "carrefour", "unified"),
    "oracle-trace",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="append", choices=TABLES, help="default: all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--into", type=Path, help="put the tables between their marks in it")
    wanted = parser.parse_args()
    options = ["--jobs", str(wanted.jobs)]
    if wanted.work is not None:
        options += ["--work", str(wanted.work)]
    for name in wanted.table or TABLES:
        text = "\n".join(TABLES[name](options))
        if wanted.into is None:
            print(text)
        else:
            put_between_marks(wanted.into, f"{COMMAND} --table {name}", text)


def answered(*words: str) -> Any:
    """The JSON output of a command of autofinity."""
    done = subprocess.run(
        [sys.executable, "-m", "autofinity", *words, "--json"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def compared(
    machine: str,
    mechanisms: Sequence[str],
    programs: Sequence[str],
    options: Sequence[str],
    inputs: Inputs = ("tiny", 30),
) -> Mapping[str, Any]:
    """The summary of `autofinity compare` with a thread for each PU, by mechanism."""
    size, repeats = inputs
    asked = (
        ("machine", machine),
        ("threads", pus_of(machine)),
        *(("mechanism", name) for name in mechanisms),
        *(("program", name) for name in programs),
        ("size", size),
        ("repeats", repeats),
    )
    words = [word for name, value in asked for word in (f"--{name}", str(value))]
    summary: Mapping[str, Any] = answered("compare", *words, *options)["summary"]
    return summary


def inputs_of(figure: MechanismFigure[Any]) -> Inputs:
    """Size and repeats."""
    return figure.size, figure.repeats


def of_times() -> list[MechanismFigure[Any]]:
    """Figures of times relative to the operating system's for which the paper gives means."""
    return [
        figure
        for figure in OF_MECHANISMS.values()
        if isinstance(figure.study, Bars)
        and (figure.study.quantity, figure.study.baseline) == ("time", BASELINE)
        and figure.numbers
    ]


def times(options: Sequence[str]) -> Iterator[str]:
    """A row for each mechanism of each figure."""
    wanted: dict[tuple[str, Inputs], dict[str, None]] = {}
    for figure in of_times():
        on = figure.default_machine, inputs_of(figure)
        wanted.setdefault(on, {}).update(dict.fromkeys(figure.numbers))
    ours = {
        (machine, inputs): compared(machine, list(mechanisms), PROGRAMS, options, inputs)
        for (machine, inputs), mechanisms in wanted.items()
    }
    yield (
        "| figure | machine, threads | mechanism | time / OS, paper | ours | 95 % | "
        "of the oracle, paper | ours | overhead, paper | ours |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for figure in of_times():
        for mechanism, time in figure.numbers.items():
            of = ours[figure.default_machine, inputs_of(figure)][mechanism]
            oracle = figure.numbers.get(PAPERS_ORACLE)
            low, high = of["time_vs_os_interval"]
            yield row(
                figure.name,
                f"{figure.default_machine}, {pus_of(figure.default_machine)}",
                mechanism,
                f"{time:.3f}",
                f"{of['time_vs_os']:.3f}",
                f"{low:.3f}-{high:.3f}",
                "" if oracle is None else f"{oracle / time:.3f}",
                f"{of['of_oracle']:.3f}",
                OVERHEADS.get(mechanism, ""),
                f"{of['overhead']:.2%}",
            )


def quantities(options: Sequence[str]) -> Iterator[str]:
    """A row for each mean that is not a time."""
    yield "| figure | what | machine, threads | of | paper | ours |"
    yield "|---|---|---|---|---|---|"
    done = {figure.name for figure in of_times()}
    for figure in OF_MECHANISMS.values():
        if not figure.numbers or figure.name in done:
            continue
        said = answered("figure", figure.name, *options)["series"]
        for name, paper in figure.numbers.items():
            ours = said[OURS].get(name) if OURS in said else said[name][MEAN]
            assert paper == (said[PAPER][name] if OURS in said else said[name][PAPER])
            yield row(
                figure.name,
                figure.title,
                f"{figure.default_machine}, {figure.default_threads}",
                name,
                f"{paper:.4g}",
                "" if ours is None else f"{ours:.4g}",
            )


def suite(options: Sequence[str]) -> Iterator[str]:
    """All training programs: time / OS (of the oracle, the same once settled, overhead)."""
    ours = {machine: compared(machine, IN_SUITE, (), options) for machine in SUITE}
    yield row("mechanism", *(f"{machine}, {pus_of(machine)}" for machine in SUITE))
    yield f"|---|{'---|' * len(SUITE)}"
    for name in dict.fromkeys(name for summary in ours.values() for name in summary):
        cells = (of.get(name) for of in ours.values())
        yield row(
            name,
            *(
                f"{of['time_vs_os']:.3f} ({of['of_oracle']:.3f}, {settled(of)}, "
                f"{of['overhead']:.2%})"
                if of
                else ""
                for of in cells
            ),
        )


def settled(of: Mapping[str, Any]) -> str:
    """The settled share; a dash where threads moved until the end in all programs."""
    share = of["of_oracle_settled"]
    return "–" if share is None else f"{share:.3f}"


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


TABLES = {"times": times, "quantities": quantities, "suite": suite}


if __name__ == "__main__":
    main()
