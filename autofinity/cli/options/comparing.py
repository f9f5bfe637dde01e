"""Options of `compare` and of the figures of mechanisms: how often and how long programs run."""

from __future__ import annotations

from collections.abc import Callable

import click

from autofinity.cli.options.work import jobs_option, work_option

faults_option = click.option(
    "--faults-per-page",
    type=click.FloatRange(min=0, max=1e6),
    default=None,
    metavar="N",
    help="Induced faults of each page in the run, for kMAF and SPCD.  [default: the paper's 20 "
    "where the region is repeated that often, else one per repeat; at least 10% of the pages a "
    "second]",
)


def comparing_options[**P, R](
    repeats: int | None, shown: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add the options for `seeds`, `repeats`, `paper_seconds`, `jobs` and `work` to a function.

    `repeats` is the default, None where the command knows one (`shown` says which).
    """
    options = (
        click.option(
            "--seeds",
            type=click.IntRange(min=1, max=99),
            default=1,
            show_default=True,
            help="Runs under each mechanism, with different seeds for page colours, scheduler and "
            "mappings.",
        ),
        click.option(
            "--repeats",
            type=click.IntRange(min=1, max=10_000),
            default=repeats,
            show_default=shown or True,
            help="Repetitions of each region of interest while a mechanism watches and moves "
            "threads and pages; with 1, figures are of the simulated run.",
        ),
        click.option(
            "--paper-seconds",
            type=click.FloatRange(min=0.1, max=1e5),
            default=60,
            show_default=True,
            metavar="SECONDS",
            help="Length of the run that all figures are of. Periods and rates of mechanisms are "
            "scaled to it, prices of operations are not.",
        ),
        jobs_option,
        work_option,
    )

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorated
