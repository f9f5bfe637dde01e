"""`autofinity advise`: what to do about a program, and why; nothing is bound or moved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypedDict, Unpack

import click
from click.core import ParameterSource

from autofinity.cli.advise_curve import (
    check_curve_of,
    counts_of,
    curve_of_launched,
    report_curve,
)
from autofinity.cli.advise_policy import asked_here, asked_on, choice_here, policy_on
from autofinity.cli.advise_report import tell_advice
from autofinity.cli.detect_live import TraceOrProgram, live_program, refuse_machine
from autofinity.cli.given_options import refuse_options
from autofinity.cli.last_output import complain_unwritten
from autofinity.cli.options.html import html_option
from autofinity.cli.options.json import json_option
from autofinity.cli.options.latencies import latencies_option
from autofinity.cli.options.names import several_names
from autofinity.cli.options.pid import Pid
from autofinity.cli.options.placing import near_nodes, near_option, trace_machine_option
from autofinity.cli.options.run import policy_option
from autofinity.cli.options.suite import size_option, suite_option
from autofinity.cli.options.work import work_option
from autofinity.cli.printer import complain, say_json
from autofinity.cli.progress import Terminal
from autofinity.foreign_text import one_line
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.workflow.advice.launched import Launched
    from autofinity.workflow.advice.seen import Seen

type Beside = Callable[[Seen], Seen]
"""Adds what is asked for beside the advice: ranks, and nodes near a device."""


class _Options(TypedDict):
    """Options of advice, with or without a curve."""

    trace: Path | None
    pid: int | None
    measured: Path | None
    machine: str
    latencies: str | None
    policy: str | None
    threads: int | None
    near: str | None
    ranks: int | None
    counts: tuple[int, ...] | None
    programs: tuple[str, ...]
    suite_path: Path | None
    size: str
    work: Path | None
    repeats: int
    html: Path | None
    as_json: bool


@click.command(
    "advise",
    cls=TraceOrProgram,
    more="--latencies --program --suite --size --work --repeats",
)
@click.argument(
    "trace",
    metavar="[TRACE | -- PROGRAM [ARGS]...]",
    required=False,
    type=click.Path(path_type=Path),
)
@click.option("--pid", type=Pid(), help="Process id of a running program.")
@click.option(
    "--from",
    "measured",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Output of perf stat, perf script, perf c2c or likwid-perfctr, or a table of counters (-: "
    "standard input), from --machine, else from this machine (docs/advise.md).",
)
@trace_machine_option
@latencies_option
@policy_option
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1),
    help="Number of computing threads.  [default: observed, or those of the trace]",
)
@near_option
@click.option(
    "--ranks",
    "-n",
    type=click.IntRange(min=1),
    help="Number of ranks to place, each like the program that is watched; `hints --ranks` needs "
    "no program.",
)
@click.option(
    "--curve",
    "counts",
    metavar="COUNTS",
    callback=counts_of,
    help="Measure how many threads pay: 4,8,16, or auto for a quarter, half and all of the cores, "
    "and all CPUs. PROGRAM runs at each count under `run`, which sets {threads} in its words and "
    "OMP_NUM_THREADS; a TRACE keeps its threads and gets that many CPUs.",
)
@click.option(
    "--program",
    "-p",
    "programs",
    metavar="NAME",
    multiple=True,
    callback=several_names,
    help="With --curve: one program of the suite, captured at each count.",
)
@suite_option
@size_option
@work_option
@click.option(
    "--repeats",
    type=click.IntRange(min=1, max=10_000),
    default=1,
    show_default=True,
    help="With --curve: number of runs of PROGRAM at each count.",
)
@html_option
@json_option
@click.pass_context
def command(ctx: click.Context, **options: Unpack[_Options]) -> None:
    """Watch a program as `run` does and recommend placement; nothing is bound or moved.

    PROGRAM is started here, and keeps its streams and exit code; --pid names a running program;
    TRACE is replayed on a simulated machine; --from reads measurements. The advice covers
    placement, expected gain, memory policy, NUMA balancing, SMT and how many threads pay, each with
    its evidence.
    """
    program = live_program(ctx)
    trace, pid, measured = options["trace"], options["pid"], options["measured"]
    counts, near, ranks = options["counts"], options["near"], options["ranks"]
    if program or pid is not None:
        refuse_machine(ctx)
    if counts is None and (options["programs"] or options["repeats"] != 1):
        raise UsageError("--program and --repeats are for --curve; expected --curve COUNTS, too")
    if not options["programs"]:
        refuse_options(("suite_path", "size", "work"), "they are for --curve with --program")
    if ranks is not None and near is not None:
        raise UsageError("--ranks spreads ranks over all nodes; expected it without --near")
    if counts is not None:
        _curve(counts, program, options)
        return
    if sum(given is not None for given in (trace, pid, measured, program)) != 1 or program == ():
        raise UsageError(
            "expected one of: the folder of a trace, --pid PID, --from FILE, `-- PROGRAM [ARGS]...`"
            + ("; `autofinity hints --ranks` needs no program" if ranks is not None else "")
        )
    if measured is not None and options["latencies"] is not None:
        raise UsageError("--latencies is for a TRACE; expected --from without it")
    default = ctx.get_parameter_source("machine") is ParameterSource.DEFAULT
    here = trace is None and (default or measured is None)
    machine = "host" if here else options["machine"]
    beside = _beside(machine, near, ranks)
    if measured is not None:
        _of_file(measured, machine, beside, options)
    elif trace is not None:
        _of_trace(trace, machine, beside, options)
    elif pid is not None:
        _of_process(pid, beside, options)
    elif program is not None:
        _of_launched(program, beside, options)


def _curve(counts: tuple[int, ...], program: tuple[str, ...] | None, options: _Options) -> None:
    """How many threads pay. Exits as the program did, where one ran here."""
    from autofinity.workflow.advice.curve_simulated import curve_of_program, curve_of_trace
    from autofinity.workflow.backends import simulated_spec
    from autofinity.workflow.wanted import wanted_on

    trace, threads, machine = options["trace"], options["threads"], options["machine"]
    policy, html, as_json = options["policy"], options["html"], options["as_json"]
    if options["near"] is not None:
        raise UsageError("--near is for advice on placement; expected it without --curve")
    if options["ranks"] is not None:
        raise UsageError("--curve says how many threads one process is worth; expected no --ranks")
    others = (options["pid"], options["measured"])
    check_curve_of(trace, program, options["programs"], others)
    if threads is not None and trace is None:
        raise UsageError("--threads and --curve both say how many threads; expected one of them")
    if options["repeats"] != 1 and not program:
        raise UsageError("--repeats is for `--curve COUNTS -- PROGRAM [ARGS]...`")
    if program:
        curve_of_launched(program, counts, policy, options["repeats"], html, as_json=as_json)
    spec = simulated_spec(machine, options["latencies"], reporter=Terminal())
    chosen = policy_on(machine, policy)
    if trace is not None:
        curve = curve_of_trace(spec, trace, chosen, counts, threads=threads, reporter=Terminal())
    else:
        wanted = wanted_on(
            machine,
            programs=options["programs"],
            sizes=(options["size"],),
            suite=options["suite_path"],
            work=options["work"],
        )
        curve = curve_of_program(spec, wanted, chosen, counts, Terminal())
    report_curve(curve, html, as_json=as_json)


def _beside(machine: str, device: str | None, ranks: int | None) -> Beside:
    """Adds the ranks, or the nodes of --near, which are looked up before anything starts.

    Raises `UsageError` for an unknown device.
    """
    if device is None:
        elsewhere = "" if machine == "host" else machine
        return lambda seen: replace(seen, ranks=ranks or 0, machine=elsewhere)
    from autofinity.workflow.backends import machine_topology

    nodes = near_nodes(machine_topology(machine), machine, device)
    return lambda seen: replace(seen, near=nodes, device=device)


def _of_file(path: Path, machine: str, beside: Beside, options: _Options) -> None:
    from autofinity.workflow.advice.from_file import HERE, place_named, seen_in_file

    place, wish = place_named(machine), options["policy"]
    policy, asked = asked_here(wish) if machine == HERE else asked_on(machine, wish)
    seen = seen_in_file(path, place, policy, asked, options["threads"])
    tell_advice(beside(seen), options["html"], as_json=options["as_json"])


def _of_trace(trace: Path, machine: str, beside: Beside, options: _Options) -> None:
    from autofinity.workflow.advice.simulated import seen_simulated
    from autofinity.workflow.backends import simulated
    from autofinity.workflow.detect import WHOLE_TRACE, detect

    simulator = simulated(machine, options["latencies"], reporter=Terminal())
    policy, asked = asked_on(machine, options["policy"])
    seen = beside(seen_simulated(simulator, trace, policy, asked, options["threads"]))
    whole = None
    if options["html"] is not None:
        whole = detect(simulator, trace, WHOLE_TRACE, threads=seen.threads).whole.sharing
    tell_advice(seen, options["html"], whole, as_json=options["as_json"])


def _of_process(pid: int, beside: Beside, options: _Options) -> None:
    from autofinity.workflow.advice.here import seen_here

    choice, threads = choice_here(options["policy"]), options["threads"] or 0
    seen = seen_here(pid, choice, threads, Terminal())
    tell_advice(beside(seen), options["html"], as_json=options["as_json"])


def _of_launched(program: Sequence[str], beside: Beside, options: _Options) -> NoReturn:
    from autofinity.workflow.advice.launched import seen_launched

    as_json = options["as_json"]
    done = seen_launched(
        program,
        choice_here(options["policy"]),
        threads=options["threads"] or 0,
        to_stderr=as_json,
        reporter=Terminal(),
    )
    if done.seen is not None:
        done = replace(done, seen=beside(done.seen))
    try:
        _tell_of_launched(program[0], done, options["html"], as_json=as_json)
    except OSError as error:
        complain_unwritten("the advice", error)
    sys.exit(done.exit_code)


def _tell_of_launched(program: str, done: Launched, html: Path | None, *, as_json: bool) -> None:
    if done.trouble:
        nothing = "no advice" if html is None else "no advice, so no page is written"
        complain(f"{nothing}: {one_line(done.trouble)}")
    if done.seen is not None:
        tell_advice(done.seen, html, as_json=as_json, err=not as_json, exit_code=done.exit_code)
    elif as_json:
        said = {"program": program, "exit_code": done.exit_code, "no_advice": done.trouble}
        say_json(said, indent=2)
