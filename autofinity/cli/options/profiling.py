"""Options that `profile`, `train` and `evaluate` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import click

from autofinity.cli.options.latencies import latencies_option
from autofinity.cli.options.page_size import page_size_option
from autofinity.cli.options.period import microseconds
from autofinity.cli.options.placing import simulated_option
from autofinity.cli.options.suite import programs_option, sizes_option, suite_option
from autofinity.cli.options.work import jobs_option, work_option
from autofinity.model.errors import UsageError
from autofinity.workflow.wanted import Wanted, wanted_on


class ProfilingOptions(TypedDict):
    """Options that `profiling_options` adds to a command."""

    machine: str
    latencies: str | None
    twin: bool
    page_size: str | None
    suite_path: Path | None
    programs: tuple[str, ...]
    sizes: tuple[str, ...]
    work: Path | None
    jobs: int
    affinities: str
    period_us: float | None


_OPTIONS = (
    simulated_option,
    latencies_option,
    click.option(
        "--simulated",
        "twin",
        is_flag=True,
        help="With --machine host: replay on a simulated twin instead of running programs.",
    ),
    page_size_option,
    suite_option,
    programs_option,
    sizes_option,
    click.option(
        "--affinities",
        default="all",
        show_default=True,
        help="all; hints: the best match of each hint; N: these and random ones, N in all; "
        "screen:N: all if there are at most 80, else the N most informative.",
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
    work_option,
)


def profiling_options[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """All of these options, in the order in which `--help` lists them."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def wanted_of(options: ProfilingOptions, threads: tuple[int, ...]) -> Wanted:
    """The wanted observations that the options describe. Raises `SuiteError` and `UsageError`."""
    if options["twin"] and options["machine"] != "host":
        raise UsageError(
            f"--simulated: {options['machine']} is always simulated; expected --simulated with "
            "--machine host only"
        )
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
        twin=options["twin"],
        page_size=options["page_size"],
        affinities=options["affinities"],
        period_us=options["period_us"],
    )


def thread_counts(text: str) -> tuple[int, ...]:
    """`4,8,16` → (4, 8, 16). Raises `UsageError` on anything else."""
    try:
        counts = tuple(int(part) for part in text.split(","))
    except ValueError:
        counts = ()
    if not counts or any(count < 1 for count in counts):
        raise UsageError(f"--threads {text!r}: expected thread counts such as 8 or 4,8,16")
    return counts
