"""`autofinity compare`: published mechanisms, baselines, oracles and ours on the same programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.help import Command
from autofinity.cli.html_page import keep_page
from autofinity.cli.interruption import keeps_results
from autofinity.cli.options.comparing import comparing_options, faults_option
from autofinity.cli.options.figure import picture_output
from autofinity.cli.options.html import html_option
from autofinity.cli.options.json import json_option
from autofinity.cli.options.latencies import latencies_option
from autofinity.cli.options.names import several_names
from autofinity.cli.options.page_size import page_size_option
from autofinity.cli.options.placing import simulated_option
from autofinity.cli.options.suite import size_option, suite_option
from autofinity.cli.options.work import on_option
from autofinity.cli.page import print_table
from autofinity.cli.printer import say, say_json
from autofinity.cli.progress import Terminal
from autofinity.model.errors import SimulationError

if TYPE_CHECKING:
    from autofinity.evaluation.comparison import MechanismCase
    from autofinity.evaluation.comparison_summary import MechanismSummary
    from autofinity.mechanisms.registry import Entry
    from autofinity.workflow.compare import Asked


@click.command(
    "compare",
    cls=Command,
    more=(
        "--latencies --page-size --suite --repeats --paper-seconds --jobs --work --faults-per-page"
    ),
)
@simulated_option
@latencies_option
@page_size_option
@suite_option
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="Threads of each program.",
)
@click.option(
    "--mechanism",
    "mechanisms",
    metavar="NAME,…",
    multiple=True,
    callback=several_names,
    help="Mechanisms to run beside os and oracle, such as kmaf16,tlb; may be repeated.  [default: "
    "all]",
)
@click.option(
    "--program",
    "-p",
    "programs",
    metavar="NAME,…",
    multiple=True,
    callback=several_names,
    help="Run only these programs of the suite; may be repeated. cg+lu runs two programs side by "
    "side, each with --threads threads, and needs --repeats 1.",
)
@size_option
@comparing_options(repeats=10)
@on_option
@faults_option
@click.option(
    "--policy",
    metavar="POLICY",
    default=None,
    help="Policy of autofinity and unified: a file, or the name of a shipped one.  [default: that "
    "of the machine]",
)
@click.option("--list", "only_list", is_flag=True, help="List the mechanisms and exit.")
@picture_output("a chart of times relative to the OS's")
@html_option
@json_option
def command(
    machine: str,
    latencies: str | None,
    page_size: str | None,
    suite_path: Path | None,
    threads: int,
    mechanisms: tuple[str, ...],
    programs: tuple[str, ...],
    size: str,
    seeds: int,
    repeats: int,
    paper_seconds: float,
    faults_per_page: float | None,
    policy: str | None,
    jobs: int | None,
    on: str,
    work: Path | None,
    only_list: bool,
    output: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Run published mechanisms, baselines, oracles and ours on the same programs and machine.

    All work of a mechanism is charged: induced faults, shootdowns, page copies, thread migrations
    and the mapping. Figures are of a run of --paper-seconds, put together from the simulated
    repetitions (in --json: `simulated`). They are ratios to the operating system's scheduler with
    first-touch pages, as geometric means over programs with 95 % intervals.
    """
    from autofinity.mechanisms.registry import pick
    from autofinity.workflow.compare import Asked, compared
    from autofinity.workflow.wanted import wanted_on

    entries = pick(mechanisms)
    if only_list:
        _list(entries, as_json)
        return
    wanted = wanted_on(
        machine,
        programs=programs,
        sizes=(size,),
        threads=(threads,),
        jobs=jobs,
        suite=suite_path,
        work=work,
    )
    wanted = replace(wanted, latencies=latencies, page_size=page_size, on=on)
    asked = Asked(wanted, seeds, repeats, paper_seconds, faults_per_page, policy)
    keeps_results()
    cases = compared(asked, entries, Terminal(quiet=as_json))
    _tell(asked, entries, cases, output, html, as_json=as_json)


def _tell(
    asked: Asked,
    entries: Sequence[Entry],
    cases: Sequence[MechanismCase],
    output: Path | None,
    html: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the comparison; as a chart and as a page, too."""
    from autofinity.evaluation.comparison import minutes, shown
    from autofinity.evaluation.comparison_summary import summarise
    from autofinity.report import comparison_table

    read = shown(cases)
    summary = summarise(read)
    machine = asked.wanted.machine
    if not summary:
        raise SimulationError(
            f"no mechanism completed on {machine}: "
            + "; ".join(sorted({case.reason for case in cases if case.run is None}))
        )
    count = len({case.program for case in cases})
    programs = f"{count} program{'s' * (count != 1)}"
    length = f"runs of {asked.paper_s:g} s" if minutes(cases) else "the simulated runs"
    title = f"{machine}, {asked.threads} threads, {programs}: ratios to os, in {length}"
    if as_json:
        mapped_by = {entry.name: entry.mapped_by for entry in entries if entry.mapped_by}
        say_json({**comparison_table.as_json(cases, summary), "mapped_by": mapped_by})
    else:
        _print(cases, summary, title)
    if output is not None:
        from autofinity.report.chart_image import save

        save(comparison_table.chart(summary, title), output)
        say(f"{title}: kept in {output}", err=True)
    if html is not None:
        from autofinity.report.comparison_page import comparison_sections
        from autofinity.workflow.backends import machine_topology
        from autofinity.workflow.compare_series import series_of

        lead = f"{asked.threads} threads, {programs}; seeds: {asked.seeds}, repeats: "
        lead += f"{asked.repeats}. Figures are of {length}."
        keeps_results(False)  # these runs are for the page alone
        series = series_of(asked, entries, cases, Terminal(quiet=as_json))
        sections = comparison_sections(read, summary, machine_topology(machine), series)
        keep_page(html, f"Mechanisms on {machine}", lead, sections)


def _print(
    cases: Sequence[MechanismCase], summary: Mapping[str, MechanismSummary], title: str
) -> None:
    from autofinity.report import comparison_table
    from autofinity.report.comparison_legend import legend

    print_table(comparison_table.table(summary, title))
    for line in legend(summary):
        say(line)
    if any(sum(of.overhead.values()) for of in summary.values()):
        print_table(comparison_table.overhead_table(summary))
    for line in comparison_table.notes(cases):
        say(line)
    for case in cases:
        if case.run is None:
            say(f"left out: {case.program}, {case.mechanism}: {case.reason}", err=True)


def _list(entries: Sequence[Entry], as_json: bool) -> None:
    if as_json:
        say_json({entry.name: entry.about for entry in entries})
        return
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        say(f"{entry.name:{width}}  {entry.about}")
