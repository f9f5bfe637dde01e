"""`autofinity simulate`: one trace on one simulated machine in one affinity."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.help import Command
from autofinity.cli.options.cpus import cpus_in_order
from autofinity.cli.options.error import error_option
from autofinity.cli.options.hint import HINT
from autofinity.cli.options.json import json_option
from autofinity.cli.options.latencies import latencies_option
from autofinity.cli.options.page_size import page_size_option
from autofinity.cli.options.period import microseconds
from autofinity.cli.options.placing import simulated_option
from autofinity.cli.page import print_table
from autofinity.cli.printer import complain, page, say, say_json
from autofinity.cli.progress import Terminal
from autofinity.cli.simulate_several import durations_ns, show
from autofinity.linux.cpu_lists import format_cpu_list
from autofinity.model.affinity import DISTRIBUTED, Affinity, Hint
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.evaluation.in_run import InRun
    from autofinity.model.topology import OsIndex
    from autofinity.sim.result import SimResult
    from autofinity.sim.spec import MachineSpec
    from autofinity.workflow.simulate import Seats

SHOWN = (
    "instructions",
    "cycles",
    "cpu_clocks_halted",
    "data_cache_accesses",
    "data_cache_misses",
    "l2_misses",
    "llc_misses",
    "dram_reads_local",
    "dram_reads_remote",
    "cache_to_cache_transfers_same_llc",
    "cache_to_cache_transfers_same_package",
    "cache_to_cache_transfers_remote",
    "invalidations_sent",
    "page_walks",
    "stall_cycles_memory",
    "stall_cycles_sync",
)

_PAGES = "first_touch"


@click.command(
    cls=Command,
    more=(
        *("--latencies", "--page-size", "--seed", "--pages"),
        *("--placement", "--start", "--after", "--restart"),
        *("--error",),
    ),
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
    help="Start distributed, then sample and move the threads within the run by this policy.",
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
    threads: int | None,
    hint: Hint | None,
    affinity: str | None,
    cpus: str | None,
    policy: str | None,
    seed: int,
    pages: str,
    placement: str,
    start: str | None,
    after: bool,
    restart: bool,
    period_us: float,
    error: float,
    every: bool,
    as_json: bool,
) -> None:
    """Replay TRACE (a folder that `autofinity capture` made) on a simulated machine.

    Without --hint, --affinity or --cpus, the threads are spread (SLP). Several traces run side by
    side, each in its own address space.
    """
    from autofinity.sim.replay_cost import replay_cost
    from autofinity.sim.sampled import Precision
    from autofinity.workflow.backends import simulated_spec
    from autofinity.workflow.policies import named_policy
    from autofinity.workflow.simulate import (
        Several,
        simulate_policy,
        simulate_several,
        simulate_trace,
    )

    spec = simulated_spec(machine, latencies, page_size, reporter=Terminal())
    trace = traces[0]
    for one in traces:
        cost = replay_cost(one)
        if cost is not None and cost.is_large:
            Terminal().notice(f"a replay of {one} takes about {cost}")
    if policy is not None:
        if len(traces) > 1 or placement == "os" or hint or affinity or cpus or pages != _PAGES:
            raise UsageError(
                "--policy places one program; expected it without --hint, --affinity, --cpus, "
                "--pages and --placement os"
            )
        in_run = simulate_policy(
            spec,
            trace,
            named_policy(policy),
            threads=threads,
            period_us=period_us,
            seed=seed,
        )
        _show_policy(trace, spec, in_run, as_json)
        return
    if len(traces) > 1 or placement == "os":
        if pages != _PAGES or affinity or (hint and placement == "os"):
            raise UsageError(
                "several programs and --placement os take no --pages and no --affinity; "
                "--placement os takes no --hint"
            )
        if cpus and placement == "bound":
            raise UsageError("--cpus places one program; expected --hint for several")
        several = simulate_several(
            spec,
            Several(traces, durations_ns(start, len(traces)), after, threads),
            hint=hint or DISTRIBUTED,
            unbound=placement == "os",
            cpus=cpus_in_order(cpus) if cpus else (),
            restart=restart,
            period_us=period_us,
            seed=seed,
        )
        _tell_of_siblings(hint, spec, several.whole.cpus)
        if len(traces) > 1:
            show(traces, spec, several, as_json)
        else:
            _show(trace, spec, several.whole, every, as_json)
        return
    if start or after or restart:
        raise UsageError("--start, --after and --restart are for several programs; got one")
    result = simulate_trace(
        spec,
        trace,
        _seats(hint, affinity, cpus),
        threads=threads,
        period_us=period_us,
        seed=seed,
        pages="interleave" if pages == "interleave" else "first_touch",
        precision=Precision(error=error, jobs=len(os.sched_getaffinity(0))),
    )
    _tell_of_siblings(hint, spec, result.cpus)
    _show(trace, spec, result, every, as_json)


def _tell_of_siblings(hint: Hint | None, spec: MachineSpec, cpus: Sequence[OsIndex]) -> None:
    """Print the note on siblings for a hint that was asked for."""
    from autofinity.affinity.siblings import siblings_note

    if hint is not None and (note := siblings_note(spec.topology, hint, cpus)):
        complain(note)


def _seats(hint: Hint | None, affinity: str | None, cpus: str | None) -> Seats:
    """From whichever of the three was given."""
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
    return Seats(hint=hint or DISTRIBUTED)


def _show(trace: Path, spec: MachineSpec, result: SimResult, every: bool, as_json: bool) -> None:
    if as_json:
        say_json(_document(trace, spec, result))
    else:
        _print(trace, spec, result, every)


def _document(trace: Path, spec: MachineSpec, result: SimResult) -> dict[str, object]:
    from autofinity.sim.events import EVENTS

    return {
        "trace": str(trace),
        "machine": spec.name,
        "cpus": list(result.cpus),
        "workers": list(result.workers),
        "roi_ns": result.roi_ns,
        "error": result.error,
        "ipc": result.ipc,
        "totals": {event: result.total(event) for event in EVENTS},
        "per_thread": {event: result.of_workers(event).tolist() for event in EVENTS},
        "samples": len(result.samples),
        "progress": result.progress.tolist(),
    }


def _print(trace: Path, spec: MachineSpec, result: SimResult, every: bool) -> None:
    from rich.table import Table

    from autofinity.sim.events import EVENTS

    console = page()
    console.print(
        f"{trace.name} on {spec.name}, CPUs {','.join(map(str, result.cpus))}", soft_wrap=True
    )
    error = f" ± {100 * result.error:.2f} %" if result.error else ""
    console.print(
        f"region of interest {result.roi_ns / 1e6:.3f} ms{error}, IPC {result.ipc:.3f} per thread, "
        f"{len(result.samples)} samples",
        soft_wrap=True,
    )
    table = Table("counter", "all threads", "per 1000 instructions")
    for column in table.columns[1:]:
        column.justify = "right"
    instructions = max(1, result.total("instructions"))
    for event in EVENTS if every else SHOWN:
        count = result.total(event)
        table.add_row(event, f"{count:,}", f"{1000 * count / instructions:.3f}")
    print_table(table, console)
    for line in (*_of_llc_misses(spec, result), *_of_llc_lookups(result)):
        console.print(line, soft_wrap=True)
    shared = len(result.cpus) - len(set(result.cpus))
    if shared:
        console.print(f"{shared} threads share a CPU: {format_cpu_list(result.cpus)} are used")


def _of_llc_misses(spec: MachineSpec, result: SimResult) -> list[str]:
    """Where the lines of `llc_misses` were, for an LLC that need not hold its own cores' lines."""
    from autofinity.sim.events import OUTSIDE_LLC

    if spec.llc.inclusion == "inclusive":
        return []
    beside = result.total("cache_to_cache_transfers_same_llc")
    outside = sum(map(result.total, OUTSIDE_LLC))
    held = beside + outside - result.total("llc_misses")
    line = (
        "llc_misses counts lines that were not in the LLC itself, which holds what its cores have "
        f"evicted: {beside:,} came from other cores of the same LLC, {outside:,} from outside "
        "(other LLCs, memory)"
    )
    if held > 0:
        line += (
            f"; {held:,} of these are llc_hits: the LLC had the line, too, and the core that owns "
            "the line sent it"
        )
    return [line]


def _of_llc_lookups(result: SimResult) -> list[str]:
    """Why an LLC is looked up more often than L2 caches miss, where this shows."""
    misses, l2_misses = result.total("llc_misses"), result.total("l2_misses")
    if misses <= l2_misses:
        return []
    prefetches, walks = result.total("prefetches_issued"), result.total("page_walk_misses")
    return [
        f"llc_misses is above l2_misses: the LLC is also looked up for {prefetches:,} prefetches "
        f"and {walks:,} page walks, which are no l2_misses"
    ]


def _show_policy(trace: Path, spec: MachineSpec, result: InRun, as_json: bool) -> None:
    if as_json:
        say_json(_policy_document(result))
    else:
        say(_policy_text(trace, spec, result))


def _policy_document(result: InRun) -> dict[str, object]:
    decided_s = result.decided_at_s
    return {
        "roi_s": result.roi_s,
        "hints": [str(hint) for hint in result.hints],
        "decided_at_s": decided_s if decided_s == decided_s else None,
    }


def _policy_text(trace: Path, spec: MachineSpec, result: InRun) -> str:
    where = " → ".join(hint.shown for hint in result.hints)
    decided = (
        f"decided after {result.decided_at_s * 1e3:.3g} ms"
        if result.decided_at_s == result.decided_at_s
        else "the run ended before a decision"
    )
    return (
        f"{trace.name} on {spec.name}: {result.roi_s * 1e3:.4g} ms, including samples and moves\n"
        f"threads were placed {where}; {decided}"
    )
