"""`autofinity simulate`: one trace on one simulated machine in one affinity."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import click

from autofinity.cli.given_options import refuse_options
from autofinity.cli.help import Command
from autofinity.cli.options.cpus import cpus_in_order
from autofinity.cli.options.error import error_option
from autofinity.cli.options.hint import HINT
from autofinity.cli.options.json import json_option
from autofinity.cli.options.latencies import latencies_option
from autofinity.cli.options.page_size import page_size_option
from autofinity.cli.options.period import microseconds
from autofinity.cli.options.placing import simulated_option
from autofinity.cli.program_given import refuse_program
from autofinity.cli.progress import Terminal
from autofinity.cli.siblings import tell_of_siblings
from autofinity.cli.simulate_one import show, show_placed
from autofinity.cli.simulate_several import durations_ns, show_each
from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.errors import UsageError
from autofinity.trace.folder_of_traces import refuse_folder_of_traces

if TYPE_CHECKING:
    from autofinity.sim.spec import MachineSpec
    from autofinity.workflow.simulate import Seats

_PAGES: Literal["first_touch"] = "first_touch"


class _Options(TypedDict):
    """Options of a replay, whatever its programs."""

    threads: int | None
    hint: Hint | None
    affinity: str | None
    cpus: str | None
    policy: str | None
    seed: int
    pages: Literal["first_touch", "interleave"]
    placement: str
    start: str | None
    after: bool
    restart: bool
    period_us: float
    error: float
    every: bool
    as_json: bool


@click.command(
    cls=Command,
    more="--latencies --page-size --seed --pages --placement --start --after --restart --error",
)
@click.argument(
    "traces", metavar="TRACE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@simulated_option
@latencies_option
@page_size_option
@click.option(
    "--threads",
    "-t",
    type=int,
    help="Number of threads of the trace to place.  [default: all threads of the program]",
)
@click.option("--hint", type=HINT, help="Place the threads by this hint.")
@click.option("--affinity", help="Place the threads in this affinity, for example '{2,2}{4}'.")
@click.option("--cpus", help="Place thread i on the i-th CPU of this list, for example 0,6,12-14.")
@click.option(
    "--policy",
    help="Start spread, then sample and move the threads within the run by this policy.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    help="Random seed of page colours and of --placement os.",
)
@click.option(
    "--pages",
    type=click.Choice(["first_touch", "interleave"]),
    default=_PAGES,
    show_default=True,
    help="Page placement policy.",
)
@click.option(
    "--placement",
    type=click.Choice(["bound", "os"]),
    default="bound",
    show_default=True,
    help="os: a model of Linux's scheduler moves the threads, on all CPUs or those of --cpus.",
)
@click.option("--start", help="Start times of several programs, for example 0,5ms.")
@click.option("--after", is_flag=True, help="Run several programs one after the other.")
@click.option("--restart", is_flag=True, help="Restart programs until the longest has ended.")
@click.option(
    "--period",
    "period_us",
    metavar="LENGTH",
    type=microseconds,
    default="500us",
    show_default=True,
    help="Sample period in simulated time.",
)
@error_option
@click.option("--all", "every", is_flag=True, help="Show every counter.")
@json_option
def command(
    traces: tuple[Path, ...],
    machine: str,
    latencies: str | None,
    page_size: str | None,
    **options: Unpack[_Options],
) -> None:
    """Replay TRACE (a folder that `autofinity capture` made) on a simulated machine.

    Without --hint, --affinity or --cpus, the threads are spread (SLP). Several traces run side by
    side, each in its own address space.
    """
    from autofinity.sim.replay_cost import replay_cost
    from autofinity.workflow.backends import simulated_spec

    spec = simulated_spec(machine, latencies, page_size, reporter=Terminal())
    for trace in traces:
        refuse_program(trace, "a trace", "autofinity capture -o FOLDER -- {}")
        refuse_folder_of_traces(trace)
        cost = replay_cost(trace)
        if cost is not None and cost.is_large:
            Terminal().notice(f"a replay of {trace} takes about {cost}")
    if options["policy"] is not None:
        _placed_by_policy(spec, traces, options["policy"], options)
    elif len(traces) > 1 or options["placement"] == "os":
        _several(spec, traces, options)
    else:
        _one(spec, traces[0], options)


def _placed_by_policy(
    spec: MachineSpec, traces: Sequence[Path], policy: str, options: _Options
) -> None:
    from autofinity.workflow.policies import named_policy
    from autofinity.workflow.simulate import simulate_policy

    placed_otherwise = options["hint"] or options["affinity"] or options["cpus"]
    if (
        len(traces) > 1
        or options["placement"] == "os"
        or placed_otherwise
        or options["pages"] != _PAGES
    ):
        raise UsageError(
            "--policy places one program; expected it without --hint, --affinity, --cpus, "
            "--pages and --placement os"
        )
    refuse_options(
        ("start", "after", "restart", "error", "every"),
        "--policy places one program, in a whole replay, and prints its times",
    )
    in_run = simulate_policy(
        spec,
        traces[0],
        named_policy(policy),
        threads=options["threads"],
        period_us=options["period_us"],
        seed=options["seed"],
    )
    show_placed(traces[0], spec, in_run, options["as_json"])


def _several(spec: MachineSpec, traces: tuple[Path, ...], options: _Options) -> None:
    """Several programs, or one that the operating system's scheduler moves."""
    from autofinity.workflow.simulate import Several, simulate_several

    hint, cpus, unbound = options["hint"], options["cpus"], options["placement"] == "os"
    if options["pages"] != _PAGES or options["affinity"] or (hint and unbound):
        raise UsageError(
            "several programs and --placement os take no --pages and no --affinity; "
            "--placement os takes no --hint"
        )
    refuse_options(("error",), "a replay with --placement os, or of several programs, is whole")
    if len(traces) > 1:
        refuse_options(("every",), "of several programs only some counters are shown, or --json")
    if cpus and not unbound:
        raise UsageError("--cpus places one program; expected --hint for several")
    starts_ns = durations_ns(options["start"], len(traces))
    several = simulate_several(
        spec,
        Several(traces, starts_ns, options["after"], options["threads"]),
        hint=hint or SPREAD,
        unbound=unbound,
        cpus=cpus_in_order(cpus) if cpus else (),
        restart=options["restart"],
        period_us=options["period_us"],
        seed=options["seed"],
    )
    if hint is not None:
        tell_of_siblings(spec.topology, hint, several.whole.cpus)
    if len(traces) > 1:
        show_each(traces, spec, several, options["as_json"])
    else:
        show(traces[0], spec, several.whole, options["every"], options["as_json"])


def _one(spec: MachineSpec, trace: Path, options: _Options) -> None:
    from autofinity.sim.sampled import Precision
    from autofinity.workflow.simulate import simulate_trace

    if options["start"] or options["after"] or options["restart"]:
        raise UsageError("--start, --after and --restart are for several programs; got one")
    hint = options["hint"]
    result = simulate_trace(
        spec,
        trace,
        _seats(hint, options["affinity"], options["cpus"]),
        threads=options["threads"],
        period_us=options["period_us"],
        seed=options["seed"],
        pages=options["pages"],
        precision=Precision(error=options["error"], jobs=len(os.sched_getaffinity(0))),
    )
    if hint is not None:
        tell_of_siblings(spec.topology, hint, result.cpus)
    show(trace, spec, result, options["every"], options["as_json"])


def _seats(hint: Hint | None, affinity: str | None, cpus: str | None) -> Seats:
    """Seats by the hint, the affinity or the CPUs, whichever was given; spread without any."""
    from autofinity.workflow.simulate import Seats

    if sum(option is not None for option in (hint, affinity, cpus)) > 1:
        raise UsageError("got more than one of --hint, --affinity and --cpus; expected one")
    if cpus is not None:
        return Seats(cpus=cpus_in_order(cpus))
    if affinity is not None:
        try:
            return Seats(affinity=Affinity.parse(affinity))
        except ValueError as error:
            raise UsageError(
                f"not an affinity: {affinity!r}; expected for example '{{2,2}}{{4}}'"
            ) from error
    return Seats(hint=hint or SPREAD)
