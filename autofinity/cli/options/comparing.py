"""Options of `compare` and of the figures of mechanisms: how often and how long programs run."""

from __future__ import annotations

from collections.abc import Callable

import click

from autofinity.cli.options.work import jobs_option, work_option


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
            help="Repetitions of each region of interest under a mechanism; longer runs spread a "
            "mechanism's costs.",
        ),
        click.option(
            "--paper-seconds",
            type=click.FloatRange(min=0.1, max=1e5),
            default=60,
            show_default=True,
            help="Seconds of a paper's run that a whole run represents. Periods and rates of "
            "mechanisms and costs of periodic mappings are scaled by this; costs of other "
            "operations are not.",
        ),
        jobs_option,
        work_option,
    )

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorated
