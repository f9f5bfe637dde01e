"""`autofinity profile`: measure programs under affinities and keep the observations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from autofinity.cli.help import Command
from autofinity.cli.interruption import keeps_results
from autofinity.cli.options.error import error_option
from autofinity.cli.options.json import json_option
from autofinity.cli.options.names import several_names
from autofinity.cli.options.output import output_option
from autofinity.cli.options.profiling import (
    ProfilingOptions,
    profiling_options,
    thread_counts,
    wanted_by_options,
)
from autofinity.cli.printer import say, say_json
from autofinity.cli.progress import Terminal
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.workflow.profile import Cost


@click.command(
    "profile",
    cls=Command,
    more=(
        "--latencies --page-size --suite --period --jobs --work --seed --baselines --search "
        "--certify --error --estimate --pack --thin"
    ),
)
@profiling_options
@click.option(
    "--threads", "-t", default="8", show_default=True, help="Thread counts, such as 4,8,16."
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Random seed of the choice of affinities.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1, max=99),
    default=1,
    show_default=True,
    help="Number of runs in each affinity; on a simulated machine, each run has other page "
    "colours.",
)
@click.option(
    "--baselines/--no-baselines",
    default=True,
    show_default=True,
    help="Also run the baselines of `evaluate`: OS scheduler, compact, random, and a switch to "
    "each hint after two sample periods.",
)
@click.option(
    "--search",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Afterwards run the neighbours of the best affinity, with one thread elsewhere: at most "
    "this many for each program.",
)
@click.option(
    "--certify",
    metavar="NAME,…",
    multiple=True,
    callback=several_names,
    help="Run these programs in all affinities, whatever --affinities selects; may be repeated.",
)
@error_option
@click.option(
    "--estimate",
    "only_estimate",
    is_flag=True,
    help="Capture, run each program once, estimate the cost of the other runs, and exit.",
)
@output_option("Also write all observations to this Parquet file.")
@click.option(
    "--pack",
    is_flag=True,
    help="Make the Parquet file small: round rates to within 0.05 %, compress harder.",
)
@click.option(
    "--thin",
    default=None,
    metavar="THREADS",
    help="Make the Parquet file small: at these thread counts, keep the sample periods of runs in "
    "the hints' best matches only, where policies start, and the means of all other runs.",
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

    Programs are captured once, then replayed in every selected affinity. Each finished run is kept
    at once. An interrupted command resumes when it is called again.
    """
    from autofinity.workflow.profile import estimate, gather, keep
    from autofinity.workflow.wanted import observations_folder

    if (pack or thin) and output is None:
        option = "--pack" if pack else "--thin"
        raise UsageError(f"{option}: expected -o as well, to name the Parquet file")
    counts = thread_counts(threads)
    thinned = thread_counts(thin, "--thin") if thin is not None else ()
    if not set(thinned) <= set(counts):
        raise UsageError(f"--thin {thin}: expected thread counts of --threads, {threads}")
    certified_alone = set(certify).difference(options["programs"] or certify)
    if certified_alone:
        raise UsageError(
            f"--certify {','.join(sorted(certified_alone))}: expected programs that --program "
            "names, too"
        )
    wanted = replace(
        wanted_by_options(options, counts),
        seed=seed,
        page_seeds=seeds,
        baselines=baselines,
        search=search,
        certify=certify,
        error=error,
    )
    wanted.suite.pick(certify)
    keeps_results()
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
