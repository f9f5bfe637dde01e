"""`autofinity figure`: the figures of the AutoFinity paper, from our data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.backends import machine_topology
from autofinity.cli.figure_options import observations_of, picture_option, show_chart
from autofinity.cli.learning_options import hints_for
from autofinity.cli.placing_options import simulated_option
from autofinity.cli.progress import progress

if TYPE_CHECKING:
    from autofinity.report.chart import Chart
    from autofinity.store.observation_table import ObservationTable

NAMES = ("1", "2a", "9a", "9b", "10", "11", "12")


@click.command("figure")
@click.argument("name", type=click.Choice(NAMES))
@simulated_option
@click.option(
    "--observations",
    type=click.Path(path_type=Path),
    default=None,
    help="Of `profile`.  [default: the shipped ones of the machine]",
)
@click.option("--threads", type=click.IntRange(min=1), default=8, show_default=True)
@click.option(
    "--program",
    "programs",
    multiple=True,
    help="In figure 1.  [default: the most and the least sensitive one]",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=6,
    show_default=True,
    help="In figures 9a and 9b: groups in which programs are left out.",
)
@picture_option
def command(
    name: str,
    machine: str,
    observations: Path | None,
    threads: int,
    programs: tuple[str, ...],
    folds: int,
    output: Path | None,
) -> None:
    """Draw a figure of Moore & Childers (CC 2013) from our data, here or into a file.

    1: all affinities of a program. 2a: how many affinities there are. 9a, 9b: what discretisation
    and condense function are worth. 10: behaviours that the programs show. 11: all programs at one
    thread count. 12: interesting cases at all thread counts, learned at one.
    """
    if name == "2a":
        from autofinity.report.figures import figure_2a

        show_chart(figure_2a(machine_topology(machine)), output)
        return
    every = None if name == "12" else threads
    table = observations_of(observations, machine, every)
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
                report=lambda subject: bar.step(subject.program),
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
    from autofinity.model.errors import UsageError
    from autofinity.report.figures import figure_1, most_and_least_sensitive

    times = times_of(table)
    if not programs:
        return figure_1(times, most_and_least_sensitive(times, threads), machine)
    by_name = {subject.program: subject for subject in times.roi_s}
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
