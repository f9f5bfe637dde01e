#!/usr/bin/env python3
"""Compare the papers' figures of each mechanism with ours, on the papers' machines.

    python scripts/studies/mechanisms_table.py [--table times|quantities|suite]…
        [--jobs N] [--work FOLDER] [--into docs/mechanisms.md]

Three tables as Markdown, which with --into replace the text between their marks there:

- times: time against the operating system and of the oracle, and overhead, of every mechanism that
  a paper gives a mean of, in a minute. Six training programs, by `autofinity compare`.
- quantities: all other means that the papers give, by `autofinity figure`.
- suite: mechanisms on all training programs and two machines, in a minute and as simulated.

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

from shown_table import add_into, show_table

from autofinity.mechanisms.registry import BASELINE
from autofinity.papers.bars import Bars
from autofinity.papers.beside import MEAN, OURS, PAPER
from autofinity.papers.mechanism_figure import PROGRAMS, MechanismFigure, pus_of
from autofinity.papers.registry import OF_MECHANISMS
from autofinity.report.markdown import heading, row

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
SUITE = ("altix-450", "kmaf16-simulated")
"""Machines of few threads: all programs with 64 take hours."""
IN_SUITE = (
    *("packed", "spread", "compact", "autofinity", "spcd", "kmaf14", "kmaf16", "sammu"),
    *("lapt", "tlb", "azimi", "autopin", "marathe", "numa-balancing", "carrefour", "unified"),
    "oracle-trace",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="append", choices=TABLES, help="default: all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path)
    add_into(parser)
    wanted = parser.parse_args()
    options = ["--jobs", str(wanted.jobs)]
    if wanted.work is not None:
        options += ["--work", str(wanted.work)]
    for name in wanted.table or TABLES:
        show_table(TABLES[name](options), wanted.into, f"{COMMAND} --table {name}")


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
    """The answer of `autofinity compare` with a thread for each PU."""
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
    found: Mapping[str, Any] = answered("compare", *words, *options)
    return found


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
    yield heading(
        *("figure", "machine, threads", "mechanism", "time / OS, paper", "ours", "95 %"),
        *("as simulated", "of the oracle, paper", "ours", "overhead, paper", "ours"),
    )
    for figure in of_times():
        for mechanism, time in figure.numbers.items():
            found = ours[figure.default_machine, inputs_of(figure)]
            of = found["summary"][mechanism]
            simulated = found["simulated"]["summary"][mechanism]
            oracle = figure.numbers.get(PAPERS_ORACLE)
            low, high = of["time_vs_os_interval"]
            yield row(
                figure.name,
                f"{figure.default_machine}, {pus_of(figure.default_machine)}",
                mechanism,
                f"{time:.3f}",
                f"{of['time_vs_os']:.3f}",
                f"{low:.3f}-{high:.3f}",
                f"{simulated['time_vs_os']:.3f}",
                "" if oracle is None else f"{oracle / time:.3f}",
                f"{of['of_oracle']:.3f}",
                OVERHEADS.get(mechanism, ""),
                f"{of['overhead']:.2%}",
            )


def quantities(options: Sequence[str]) -> Iterator[str]:
    """A row for each mean that is not a time."""
    yield heading("figure", "what", "machine, threads", "of", "paper", "ours")
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
    """All training programs, in a minute and as simulated: time / OS (of the oracle, overhead)."""
    ours = {machine: compared(machine, IN_SUITE, (), options) for machine in SUITE}
    heads = [f"{machine}, {pus_of(machine)}" for machine in SUITE]
    yield heading("mechanism", *(cell for head in heads for cell in (head, "as simulated")))
    for name in dict.fromkeys(name for found in ours.values() for name in found["summary"]):
        yield row(
            name,
            *(
                _cell(summary.get(name))
                for found in ours.values()
                for summary in (found["summary"], found["simulated"]["summary"])
            ),
        )


def _cell(of: Mapping[str, Any] | None) -> str:
    if of is None:
        return ""
    return f"{of['time_vs_os']:.3f} ({of['of_oracle']:.3f}, {of['overhead']:.2%})"


TABLES = {"times": times, "quantities": quantities, "suite": suite}


if __name__ == "__main__":
    main()
