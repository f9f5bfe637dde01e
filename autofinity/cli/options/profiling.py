"""Options that `profile`, `train` and `evaluate` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from autofinity.cli.options.latencies import latencies_option
from autofinity.cli.options.page_size import page_size_option
from autofinity.cli.options.period import microseconds
from autofinity.cli.options.placing import simulated_option
from autofinity.cli.options.suite import programs_option, sizes_option, suite_option
from autofinity.cli.options.work import jobs_option, on_option, work_option
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.workflow.wanted import Wanted


class ProfilingOptions(TypedDict):
    """Options that `profiling_options` adds to a command."""

    machine: str
    latencies: str | None
    page_size: str | None
    suite_path: Path | None
    programs: tuple[str, ...]
    sizes: tuple[str, ...]
    work: Path | None
    jobs: int | None
    on: str
    affinities: str
    period_us: float | None


_OPTIONS = (
    simulated_option,
    latencies_option,
    page_size_option,
    suite_option,
    programs_option,
    sizes_option,
    click.option(
        "--affinities",
        default="all",
        show_default=True,
        help="all; hints: the best match of each hint; N: N affinities, these matches and random "
        "others; screen:N: all if there are at most 80, else the N most informative.",
    ),
    click.option(
        "--period",
        "period_us",
        metavar="LENGTH",
        type=microseconds,
        default=None,
        help="Sample period in simulated time.  [default: 500us]",
    ),
    jobs_option,
    on_option,
    work_option,
)


def profiling_options[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """All of these options, in the order in which `--help` lists them."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def wanted_by_options(options: ProfilingOptions, threads: tuple[int, ...]) -> Wanted:
    """The wanted observations that the options describe. Raises `SuiteError` and `UsageError`."""
    from autofinity.workflow.wanted import wanted_on

    wanted = wanted_on(
        options["machine"],
        programs=options["programs"],
        sizes=options["sizes"],
        threads=threads,
        jobs=options["jobs"],
        suite=options["suite_path"],
        work=options["work"],
    )
    return replace(
        wanted,
        latencies=options["latencies"],
        page_size=options["page_size"],
        affinities=options["affinities"],
        period_us=options["period_us"],
        on=options["on"],
    )


def thread_counts(text: str, option: str = "--threads") -> tuple[int, ...]:
    """`4,8,16` → (4, 8, 16). Raises `UsageError` on anything else."""
    try:
        counts = tuple(int(part) for part in text.split(","))
    except ValueError:
        counts = ()
    if not counts or any(count < 1 for count in counts):
        raise UsageError(f"{option} {text!r}: expected thread counts such as 8 or 4,8,16")
    return counts
