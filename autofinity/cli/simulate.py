"""`autofinity simulate`: one trace on one simulated machine in one affinity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.backends import cpu_list, simulated
from autofinity.cli.options.hint import hint_of
from autofinity.cli.options.json import json_option
from autofinity.cli.options.latencies import latencies_option
from autofinity.cli.options.microseconds import microseconds
from autofinity.cli.options.page_size import page_size_option
from autofinity.cli.options.placing import simulated_option
from autofinity.cli.page import page, print_table
from autofinity.cli.simulate_policy import show_policy_at_work
from autofinity.cli.simulate_together import bound_runs, durations_ns, show, unbound_runs
from autofinity.model.affinity import Affinity
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology

if TYPE_CHECKING:
    from autofinity.sim.result import SimResult
    from autofinity.sim.spec import MachineSpec
    from autofinity.sim.together import ProgramRun

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


@click.command()
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
    help="Threads of the trace that are placed.  [default: as many as the program had]",
)
@click.option("--hint", help="Place the threads as this hint says, for example SLP.")
@click.option("--affinity", help="Place them as this affinity says, for example '{2,2}{4}'.")
@click.option("--cpus", help="Place thread i on the i-th CPU of this list, for example 0,6,12-14.")
@click.option(
    "--policy",
    help="Start distributed, and sample and move the threads within the run as this policy says.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Of the page colours and --placement os."
)
@click.option(
    "--pages",
    type=click.Choice(["first_touch", "interleave"]),
    default=_PAGES,
    show_default=True,
    help="Where a page goes.",
)
@click.option(
    "--placement",
    type=click.Choice(["bound", "os"]),
    default="bound",
    show_default=True,
    help="os: a model of Linux's scheduler moves the threads, on all CPUs or those of --cpus.",
)
@click.option("--start", help="When each of several programs begins, for example 0,5ms.")
@click.option("--after", is_flag=True, help="Several programs run one after the other.")
@click.option("--restart", is_flag=True, help="Programs begin again until the longest has ended.")
@click.option(
    "--period-us",
    type=microseconds,
    default=500.0,
    show_default=True,
    help="Sample period, simulated microseconds.",
)
@click.option("--all", "every", is_flag=True, help="Show every counter.")
@json_option
def command(
    traces: tuple[Path, ...],
    machine: str,
    latencies: str | None,
    page_size: str | None,
    threads: int | None,
    hint: str | None,
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
    every: bool,
    as_json: bool,
) -> None:
    """Replay TRACE (a folder that `autofinity capture` made) on a simulated machine.

    Without --hint, --affinity or --cpus the threads are distributed (SLP). Several traces run side
    by side, each in an address space of its own.
    """
    from autofinity.sim.replay import load_program, simulate, workers_of
    from autofinity.sim.together import simulate_together

    spec = simulated(machine, latencies, page_size).spec
    if policy is not None:
        if len(traces) > 1 or placement == "os" or hint or affinity or cpus or pages != _PAGES:
            raise UsageError(
                "--policy places one program, and takes no --hint, --affinity, --cpus, --pages and "
                "--placement os"
            )
        team = _threads(traces[0], None, threads)
        show_policy_at_work(spec, traces[0], team, policy, period_us, seed, as_json)
        return
    if len(traces) > 1 or placement == "os":
        if pages != _PAGES or affinity or (hint and placement == "os"):
            raise UsageError(
                "several programs, or threads that are not bound, take no --pages and --affinity, "
                "and --placement os no --hint"
            )
        if cpus and placement == "bound":
            raise UsageError("--cpus places one program; expected --hint for several")
        together = simulate_together(
            spec,
            _runs(traces, spec.topology, threads, hint, cpus, placement, start, after),
            scheduler="os" if placement == "os" else "bound",
            restart=restart,
            sample_period_ns=period_us * 1000,
            seed=seed,
        )
        if len(traces) > 1:
            show(traces, spec, together, as_json)
        else:
            _show(traces[0], spec, together.whole, every, as_json)
        return
    if start or after or restart:
        raise UsageError("--start, --after and --restart are for several programs; got one")
    trace = traces[0]
    threads = _threads(trace, cpus, threads)
    chosen = _placed(spec.topology, threads, hint, affinity, cpus)
    result = simulate(
        spec,
        load_program(trace),
        chosen,
        workers=workers_of(trace, threads),
        sample_period_ns=period_us * 1000,
        seed=seed,
        page_policy="interleave" if pages == "interleave" else "first_touch",
    )
    _show(trace, spec, result, every, as_json)


def _runs(
    traces: tuple[Path, ...],
    topology: Topology,
    threads: int | None,
    hint: str | None,
    cpus: str | None,
    placement: str,
    start: str | None,
    after: bool,
) -> list[ProgramRun]:
    teams = [_threads(trace, None, threads) for trace in traces]
    starts_ns = durations_ns(start, len(traces))
    if placement == "os":
        usable = _cpus(cpus) if cpus else None
        return unbound_runs(topology, traces, teams, usable, starts_ns, after)
    return bound_runs(topology, traces, teams, hint, starts_ns, after)


def _show(trace: Path, spec: MachineSpec, result: SimResult, every: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_document(trace, spec, result)))
    else:
        _print(trace, spec, result, every)


def _threads(trace: Path, cpus: str | None, threads: int | None) -> int:
    if threads is None and cpus is not None:
        threads = len(_cpus(cpus))
    if threads is None:
        from autofinity.trace.meta import read_meta

        threads = read_meta(trace).threads
    return threads


def _placed(
    topology: Topology, threads: int, hint: str | None, affinity: str | None, cpus: str | None
) -> tuple[OsIndex, ...]:
    """PU of each thread, from whichever of the three was given."""
    from autofinity.affinity.enumerate import place
    from autofinity.affinity.hints import get_affinity

    if sum(option is not None for option in (hint, affinity, cpus)) > 1:
        raise UsageError("got more than one of --hint, --affinity and --cpus; expected one")
    if cpus is not None:
        chosen = _cpus(cpus)
        if len(chosen) != threads:
            raise UsageError(f"got {len(chosen)} CPUs for {threads} threads; expected one each")
        return chosen
    if affinity is not None:
        try:
            wanted = Affinity.parse(affinity)
        except ValueError as error:
            raise UsageError(
                f"not an affinity: {affinity!r}; expected for example '{{2,2}}{{4}}'"
            ) from error
        if wanted.threads != threads:
            raise UsageError(
                f"the affinity {wanted} has {wanted.threads} threads, the program {threads}"
            )
        return place(topology, wanted).cpus
    return get_affinity(topology, threads, hint_of(hint or "SLP")).cpus


def _cpus(text: str) -> tuple[OsIndex, ...]:
    """A CPU list in the order given; the same CPU may come twice."""
    found: list[OsIndex] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isascii() and first.isdigit()) or (
            dash and not (last.isascii() and last.isdigit())
        ):
            raise UsageError(f"not a CPU list: {text!r}; expected for example 0,6,12-14")
        low, high = int(first), int(last or first)
        if not low <= high < low + 100_000:
            raise UsageError(f"not a CPU list: {text!r}; {part} is no range of CPUs")
        found.extend(OsIndex(cpu) for cpu in range(low, high + 1))
    return tuple(found)


def _document(trace: Path, spec: MachineSpec, result: SimResult) -> dict[str, object]:
    from autofinity.sim.events import EVENTS

    return {
        "trace": str(trace),
        "machine": spec.name,
        "cpus": list(result.cpus),
        "workers": list(result.workers),
        "roi_ns": result.roi_ns,
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
    console.print(
        f"region of interest {result.roi_ns / 1e6:.3f} ms, IPC {result.ipc:.3f} per thread, "
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
    shared = len(result.cpus) - len(set(result.cpus))
    if shared:
        console.print(f"{shared} threads share a CPU: {cpu_list(frozenset(result.cpus))} are used")
