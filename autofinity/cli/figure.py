"""`autofinity figure`: the figures of the papers, from our data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.figure_papers import draw, with_own_input
from autofinity.cli.options.comparing import comparing_options
from autofinity.cli.options.figure import picture_option, show_chart
from autofinity.cli.options.json import json_option
from autofinity.cli.progress import Terminal, progress
from autofinity.evaluation.paper_figures import PAPER_FIGURES, PROGRAMS
from autofinity.model.errors import UsageError
from autofinity.workflow.backends import machine_topology
from autofinity.workflow.compare import Asked
from autofinity.workflow.observations import hints_for, observations_of
from autofinity.workflow.wanted import wanted_on

if TYPE_CHECKING:
    from autofinity.report.chart import Chart
    from autofinity.store.observation_table import ObservationTable

NAMES = ("1", "2a", "9a", "9b", "10", "11", "12")
MACHINE = "opteron-6164he"
THREADS = 8
"""Of the AutoFinity paper's figures, as the machine above."""


@click.command("figure")
@click.argument("name", metavar="NAME", type=click.Choice([*NAMES, *PAPER_FIGURES]))
@click.option(
    "--machine",
    "-m",
    help="A preset (see `autofinity machines`), a machine file, an hwloc XML file, or "
    "'synthetic:…'.  [default: the paper's]",
)
@click.option(
    "--observations",
    type=click.Path(path_type=Path),
    default=None,
    help="Of `profile`.  [default: the shipped ones of the machine]",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="[default: 8; in those of mechanisms as many as the paper's machine has PUs]",
)
@click.option(
    "--program",
    "programs",
    multiple=True,
    help="In figure 1 and those of mechanisms.  [default: the most and the least sensitive one; "
    "six of the suite, or what the figure needs]",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=6,
    show_default=True,
    help="In figures 9a and 9b: groups in which programs are left out.",
)
@click.option(
    "--size", help="Input, in those of mechanisms.  [default: what the figure needs, mostly tiny]"
)
@comparing_options(repeats=None, shown="30, or what the figure needs")
@picture_option
@json_option
def command(
    name: str,
    machine: str | None,
    observations: Path | None,
    threads: int | None,
    programs: tuple[str, ...],
    folds: int,
    size: str | None,
    seeds: int,
    repeats: int | None,
    paper_seconds: float,
    jobs: int,
    work: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Draw a figure of a paper from our data, here or into a file.

    Of Moore & Childers (CC 2013): 1: all affinities of a program. 2a: how many affinities there
    are. 9a, 9b: what discretisation and condense function are worth. 10: behaviours that the
    programs show. 11: all programs at one thread count. 12: interesting cases at all thread counts,
    learned at one.

    Of mechanisms, with what the paper found beside ours: kmaf14-N (PACT 2014), kmaf16-N (TPDS
    2016), sammu-N (Euro-Par 2016) and tlb-N (CCPE 2014) for figure N, -tN for table N; they run
    what `compare` runs, and continue where they were interrupted (docs/mechanisms.md lists them).
    """
    if name in PAPER_FIGURES:
        figure = PAPER_FIGURES[name]
        if figure.own_input and (programs or size):
            raise UsageError(
                f"--program, --size: figure {name} is of {', '.join(figure.programs)} with an "
                f"input of its own, {figure.own_input}; expected neither"
            )
        wanted = wanted_on(
            machine or figure.machine,
            programs=programs or figure.programs or PROGRAMS,
            size=size or figure.size,
            threads=(threads or figure.default_threads,),
            jobs=jobs,
            work=work,
        )
        wanted = with_own_input(figure, wanted)
        asked = Asked(wanted, seeds, repeats or figure.repeats, paper_seconds)
        draw(figure, asked, output, as_json, Terminal(quiet=as_json))
        return
    if as_json:
        raise UsageError(f"--json: figure {name} has none; expected one of mechanisms")
    machine, threads = machine or MACHINE, threads or THREADS
    if name == "2a":
        from autofinity.report.figures import figure_2a

        show_chart(figure_2a(machine_topology(machine)), output)
        return
    every = None if name == "12" else threads
    table = observations_of(machine, every, observations)
    if name == "1":
        chart = _figure_1(table, machine, threads, programs)
    elif name == "10":
        chart = _figure_10(table, machine)
    elif name in ("9a", "9b"):
        chart = _figure_9(name, table, machine, threads, folds)
    else:
        from autofinity.evaluation.unseen import judge_unseen
        from autofinity.report.figures import figure_11, figure_12

        counts = len(set(table.threads.tolist()))
        with progress("judge", len(table.programs()) * counts) as bar:
            cases = judge_unseen(
                table,
                machine_topology(machine),
                threads,
                report=lambda workload: bar.step(workload.program),
            )
        if name == "11":
            chart = figure_11(cases, threads, machine)
        else:
            chart = figure_12(cases, machine)
    show_chart(chart, output)


def _figure_1(
    table: ObservationTable, machine: str, threads: int, programs: tuple[str, ...]
) -> Chart:
    from autofinity.evaluation.times import times_of
    from autofinity.report.figures import figure_1, most_and_least_sensitive

    times = times_of(table)
    if not programs:
        return figure_1(times, most_and_least_sensitive(times, threads), machine)
    by_name = {workload.program: workload for workload in times.roi_s}
    unknown = [name for name in programs if name not in by_name]
    if unknown:
        raise UsageError(
            f"--program {unknown[0]}: it was not profiled with {threads} threads; expected one of "
            + ", ".join(sorted(by_name))
        )
    return figure_1(times, [by_name[name] for name in programs], machine)


def _figure_9(name: str, table: ObservationTable, machine: str, threads: int, folds: int) -> Chart:
    from autofinity.affinity.best_matches import BestMatches
    from autofinity.evaluation.paper_choices import BASE, VARIATIONS, mean_times
    from autofinity.report.figures import figure_9

    steps = min(folds, len(table.programs())) * len(VARIATIONS[name])
    hints_of = hints_for(table, machine, BASE.leeway)
    with progress("learn", steps) as bar:
        found = mean_times(
            table, name, threads, hints_of, BestMatches(machine_topology(machine)), folds, bar.step
        )
    return figure_9(name, found)


def _figure_10(table: ObservationTable, machine: str) -> Chart:
    from autofinity.evaluation.coverage import covered_by
    from autofinity.evaluation.paper_choices import BASE
    from autofinity.report.figures import figure_10

    return figure_10(covered_by(table, BASE, hints_for(table, machine, BASE.leeway))[1])
