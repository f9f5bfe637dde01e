"""`autofinity profile`: measure programs under affinities and keep the observations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from autofinity.cli.options.error import error_option
from autofinity.cli.options.json import json_option
from autofinity.cli.options.output import output_option
from autofinity.cli.options.profiling import (
    ProfilingOptions,
    profiling_options,
    thread_counts,
    wanted_of,
)
from autofinity.cli.printer import say, say_json
from autofinity.cli.progress import Terminal
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.workflow.profile import Cost


@click.command("profile")
@profiling_options
@click.option(
    "--threads", "-t", default="8", show_default=True, help="Thread counts, such as 4,8,16."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the draw of affinities.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1, max=99),
    default=1,
    show_default=True,
    help="Runs in each affinity: page colourings of the simulated machine to average over.",
)
@click.option(
    "--baselines/--no-baselines",
    default=True,
    show_default=True,
    help="Also run under the OS's scheduler, compact, at random, and switched to each hint after "
    "two sample periods: what policies are judged by.",
)
@click.option(
    "--search",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Then look for better affinities one move from the best: at most so many a program.",
)
@click.option(
    "--certify",
    multiple=True,
    help="Run this program in all affinities, whatever is selected; may be given several times.",
)
@error_option
@click.option(
    "--estimate",
    "only_estimate",
    is_flag=True,
    help="Capture, run each program once, say what the rest will cost, and stop.",
)
@output_option("Write all observations to one Parquet file as well.")
@click.option(
    "--pack",
    is_flag=True,
    help="Make that file small, for shipping: rates within 0.05 %, hard compression.",
)
@click.option(
    "--thin",
    default=None,
    metavar="THREADS",
    help="In that file, with these thread counts, keep sample periods only of the hints' best "
    "matches, the starting points of policies; of other runs their mean.",
)
@json_option
def command(
    threads: str,
    seed: int,
    seeds: int,
    baselines: bool,
    search: int,
    certify: tuple[str, ...],
    error: float,
    only_estimate: bool,
    output: Path | None,
    pack: bool,
    thin: str | None,
    as_json: bool,
    **options: Unpack[ProfilingOptions],
) -> None:
    """Measure programs under affinities and keep observations.

    Programs are captured once, then replayed in every selected affinity; every finished run is kept
    at once, and a second call continues where the first one stopped.
    """
    from autofinity.workflow.profile import estimate, gather, keep
    from autofinity.workflow.wanted import observations_folder

    if (pack or thin) and output is None:
        option = "--pack" if pack else "--thin"
        raise UsageError(f"{option}: expected -o as well, the file to write so")
    thinned = thread_counts(thin) if thin is not None else ()
    wanted = replace(
        wanted_of(options, thread_counts(threads)),
        seed=seed,
        page_seeds=seeds,
        baselines=baselines,
        search=search,
        certify=certify,
        error=error,
    )
    wanted.suite.pick(certify)
    if only_estimate:
        _print_cost(wanted.machine, estimate(wanted, Terminal()), as_json)
        return
    table = gather(wanted, Terminal())
    if output is not None:
        table = keep(table, output, machine=wanted.machine, packed=pack, thin=thinned)
    folder = observations_folder(wanted)
    said = {
        "machine": wanted.machine,
        "programs": list(table.programs()),
        "observations": len(table),
        "digest": table.digest(),
        "folder": str(folder),
        "file": None if output is None else str(output),
    }
    if as_json:
        say_json(said)
    else:
        say(
            f"{len(table)} observations of {len(table.programs())} programs on {wanted.machine} "
            f"in {output or folder}"
        )


def _print_cost(machine: str, left: Cost, as_json: bool) -> None:
    if as_json:
        rows = [{"threads": t, "runs": n, "cpu_s": s} for t, (n, s) in sorted(left.items())]
        say_json({"machine": machine, "left": rows})
        return
    from autofinity.workflow.profile import cost_text

    for threads, (runs, cpu_s) in sorted(left.items()):
        say(f"{machine}, {threads} threads: {cost_text(runs, cpu_s)}")
