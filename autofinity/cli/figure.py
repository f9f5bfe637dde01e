"""`autofinity figure`: the figures of the papers, from our data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click
from click.shell_completion import CompletionItem

from autofinity.cli.given_options import refuse_options
from autofinity.cli.help import Command
from autofinity.cli.interruption import keeps_results
from autofinity.cli.options.comparing import comparing_options, faults_option
from autofinity.cli.options.figure import document, picture_option, show
from autofinity.cli.options.json import json_option
from autofinity.cli.options.names import several_names
from autofinity.cli.options.suite import suite_option
from autofinity.cli.printer import say, say_json, say_wrapped
from autofinity.cli.progress import Terminal
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.papers.figure import Figure
    from autofinity.papers.mechanism_figure import MechanismFigure
    from autofinity.papers.observed import Observed


class _Name(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3
    """The name of a figure. Figures themselves are loaded when one is drawn."""

    name = "figure"

    def _choice(self) -> click.Choice[str]:
        from autofinity.papers.names import NAMES

        return click.Choice(NAMES)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, if there is such a figure."""
        return self._choice().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """All names."""
        return self._choice().shell_complete(ctx, param, incomplete)


_OF_SOME_PROGRAMS = ("1",)
"""Figures of observations that --program chooses programs of."""
_IN_FOLDS = ("9a", "9b")
_OF_RUNS = ("suite_path", "size", "seeds", "repeats", "paper_seconds", "faults_per_page", "jobs")
"""Parameters of runs, which figures of mechanisms are drawn from."""


class _Options(TypedDict):
    """Options of a figure; None and empty: as the figure has it."""

    machine: str | None
    observations: Path | None
    threads: int | None
    suite_path: Path | None
    programs: tuple[str, ...]
    folds: int
    size: str | None
    seeds: int
    repeats: int | None
    paper_seconds: float
    faults_per_page: float | None
    jobs: int | None
    work: Path | None
    output: Path | None
    as_json: bool


@click.command(
    "figure",
    cls=Command,
    more="--folds --suite --repeats --paper-seconds --jobs --work --faults-per-page",
)
@click.argument("name", metavar="NAME", type=_Name())
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
    help="Observations of `profile`.  [default: the shipped ones of the machine]",
)
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1),
    help="Number of threads.  [default: 8; in figures of mechanisms, the number of PUs of the "
    "paper's machine]",
)
@suite_option
@click.option(
    "--program",
    "-p",
    "programs",
    metavar="NAME,…",
    multiple=True,
    callback=several_names,
    help="Programs of figure 1 and of figures of mechanisms.  [default: the most and the least "
    "sensitive; six of the suite, or as the figure needs; all of a suite that is named]",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=6,
    show_default=True,
    help="Groups of programs that are left out together, in figures 9a and 9b.",
)
@click.option(
    "--size",
    help="Input size, in figures of mechanisms.  [default: as the figure needs, mostly tiny]",
)
@comparing_options(repeats=None, shown="30, or as the figure needs")
@faults_option
@picture_option
@json_option
def command(name: str, **options: Unpack[_Options]) -> None:
    """Draw a figure of a paper from our data, here or into a file.

    Figures of Moore & Childers (CC 2013): 1: all affinities of a program. 2a: the number of
    affinities. 9a, 9b: effect of discretisation and condense function. 10: behaviours of the
    programs. 11: all programs at one thread count. 12: interesting cases at all thread counts,
    learned at one.

    Figures of mechanisms, with the paper's results beside ours: kmaf14-N (PACT 2014), kmaf16-N
    (TPDS 2016), sammu-N (Euro-Par 2016) and tlb-N (CCPE 2014) for figure N, -tN for table N. These
    run as `compare` does, and resume after an interruption (docs/mechanisms.md lists them).
    """
    from autofinity.papers.registry import OF_MECHANISMS, OF_OBSERVATIONS

    if name in OF_OBSERVATIONS:
        _draw_observed(OF_OBSERVATIONS[name], options)
    else:
        _draw_mechanisms(OF_MECHANISMS[name], options)


def _draw_observed(figure: Figure[Observed, Any], options: _Options) -> None:
    from autofinity.papers.observed import THREADS, Observed
    from autofinity.workflow.backends import machine_topology
    from autofinity.workflow.machine_events import settings_on
    from autofinity.workflow.observations import observations_of

    if options["as_json"]:
        raise UsageError(
            f"--json: figure {figure.name} has no JSON form; expected a figure of mechanisms"
        )
    if options["programs"] and figure.name not in _OF_SOME_PROGRAMS:
        raise UsageError(f"--program: figure {figure.name} is of all programs; expected none")
    refuse_options(
        (*_OF_RUNS, "work"),
        f"figure {figure.name} is drawn from observations, and no runs are made",
    )
    if figure.name not in _IN_FOLDS:
        refuse_options(("folds",), f"figure {figure.name} has no folds")
    machine = options["machine"] or figure.paper.machine
    observed = Observed(
        machine=machine,
        topology=lambda: machine_topology(machine),
        rows=lambda count: observations_of(machine, count, options["observations"]),
        settings_on=lambda settings, counters: settings_on(settings, machine, counters),
        threads=options["threads"] or THREADS,
        programs=options["programs"],
        folds=options["folds"],
        reporter=Terminal(),
    )
    output = options["output"]
    show(figure.drawn(observed), output)
    if figure.note:
        say_wrapped(figure.note, err=output is not None, hang=0)


def _draw_mechanisms(figure: MechanismFigure[Any], options: _Options) -> None:
    from autofinity.workflow.compare import Asked
    from autofinity.workflow.paper_runs import PaperRuns, with_own_input
    from autofinity.workflow.wanted import wanted_on

    refuse_options(
        ("observations", "folds"), f"figure {figure.name} is drawn from runs of mechanisms"
    )
    programs, size, suite = options["programs"], options["size"], options["suite_path"]
    if figure.own_input and (programs or size or suite):
        raise UsageError(
            f"--suite, --program, --size: figure {figure.name} is of "
            f"{', '.join(figure.programs)} with a fixed input, {figure.own_input}; expected none "
            "of them"
        )
    wanted = wanted_on(
        options["machine"] or figure.default_machine,
        programs=programs or (() if suite else figure.programs),
        sizes=(size or figure.size,),
        threads=(options["threads"] or figure.default_threads,),
        jobs=options["jobs"],
        suite=suite,
        work=options["work"],
    )
    asked = Asked(
        with_own_input(figure, wanted),
        options["seeds"],
        options["repeats"] or figure.repeats,
        options["paper_seconds"],
        options["faults_per_page"],
    )
    inputs = figure.own_input or size or figure.size
    keeps_results()
    drawn = figure.drawn(PaperRuns(asked, inputs, Terminal(quiet=options["as_json"])))
    output = options["output"]
    if options["as_json"]:
        say_json({"figure": figure.name, "source": figure.source, **document(drawn)})
        if output is None:
            return
    show(drawn, output)
    say(f"{figure.source}; docs/mechanisms.md explains differences", err=output is not None)
