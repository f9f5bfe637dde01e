"""`autofinity advise`: what to do about a program, and why; nothing is bound or moved."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from autofinity.cli.advise_curve import (
    check_curve_of,
    counts_of,
    curve_of_launched,
    report_curve,
)
from autofinity.cli.advise_policy import asked_on, policy_on
from autofinity.cli.advise_report import tell_advice
from autofinity.cli.detect_live import TraceOrProgram, live_program, refuse_machine
from autofinity.cli.last_output import complain_unwritten
from autofinity.cli.options.html import html_option
from autofinity.cli.options.json import json_option
from autofinity.cli.options.latencies import latencies_option
from autofinity.cli.options.placing import near_nodes, near_option, trace_machine_option
from autofinity.cli.options.run import policy_option
from autofinity.cli.options.suite import size_option, suite_option
from autofinity.cli.options.work import work_option
from autofinity.cli.printer import complain, say_json
from autofinity.cli.progress import Terminal
from autofinity.foreign_text import one_line
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from autofinity.model.sharing import SharingMatrix
    from autofinity.sim.machine import SimMachine
    from autofinity.workflow.advice.launched import Launched
    from autofinity.workflow.advice.seen import Seen


@click.command(
    "advise",
    cls=TraceOrProgram,
    more=(
        *("--latencies", "--program", "--suite", "--size"),
        *("--work", "--repeats"),
    ),
)
@click.argument(
    "trace",
    metavar="[TRACE | -- PROGRAM [ARGS]...]",
    required=False,
    type=click.Path(path_type=Path),
)
@click.option("--pid", type=click.IntRange(min=1), help="Process id of a running program.")
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
    help="Place this number of ranks like this one; without a program, see `hints --ranks`.",
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
    multiple=True,
    help="With --curve: program of the suite, captured at each count.",
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
def command(
    ctx: click.Context,
    trace: Path | None,
    pid: int | None,
    measured: Path | None,
    machine: str,
    latencies: str | None,
    policy: str | None,
    threads: int | None,
    near: str | None,
    ranks: int | None,
    counts: tuple[int, ...] | None,
    programs: tuple[str, ...],
    suite_path: Path | None,
    size: str,
    work: Path | None,
    repeats: int,
    html: Path | None,
    as_json: bool,
) -> None:
    """Watch a program as `run` does and recommend placement; nothing is bound or moved.

    PROGRAM is started here, and keeps its streams and exit code; --pid names a running program;
    TRACE is replayed on a simulated machine; --from reads measurements. The advice covers
    placement, expected gain, memory policy, NUMA balancing, SMT and how many threads pay, each with
    its evidence.
    """
    program = live_program(ctx)
    if program or pid is not None:
        refuse_machine(ctx)
    if counts is None and (programs or repeats != 1):
        raise UsageError("--program and --repeats are for --curve; expected it, too")
    if ranks is not None and near is not None:
        raise UsageError("--ranks spreads ranks over all nodes; expected it without --near")
    if counts is not None:
        if near is not None:
            raise UsageError("--near is for advice on placement; expected it without --curve")
        if ranks is not None:
            raise UsageError(
                "--curve says how many threads one process is worth; expected no --ranks"
            )
        from autofinity.workflow.advice.curve_simulated import curve_of_program, curve_of_trace
        from autofinity.workflow.backends import simulated_spec
        from autofinity.workflow.wanted import wanted_on

        check_curve_of(trace, program, programs, others=(pid, measured))
        if threads is not None and trace is None:
            raise UsageError("--threads says what --curve varies; expected one of them")
        if repeats != 1 and not program:
            raise UsageError("--repeats is for `--curve COUNTS -- PROGRAM [ARGS]...`")
        if program:
            curve_of_launched(program, counts, policy, repeats, html, as_json=as_json)
        spec = simulated_spec(machine, latencies, reporter=Terminal())
        chosen = policy_on(machine, policy)
        if trace is not None:
            curve = curve_of_trace(
                spec, trace, chosen, counts, threads=threads, reporter=Terminal()
            )
        else:
            wanted = wanted_on(
                machine, programs=programs, sizes=(size,), suite=suite_path, work=work
            )
            curve = curve_of_program(spec, wanted, chosen, counts, Terminal())
        report_curve(curve, html, as_json=as_json)
        return
    if sum(given is not None for given in (trace, pid, measured, program)) != 1 or program == ():
        raise UsageError(
            "expected one of: the folder of a trace, --pid PID, --from FILE, `-- PROGRAM [ARGS]...`"
            + ("; `autofinity hints --ranks` needs no program" if ranks is not None else "")
        )
    if measured is not None and latencies is not None:
        raise UsageError("--latencies is for a TRACE; expected --from without it")
    default = ctx.get_parameter_source("machine") is ParameterSource.DEFAULT
    here = "host" if trace is None and (default or measured is None) else machine
    beside = _beside(here, near, ranks)
    if measured is not None:
        tell_advice(beside(_of_file(measured, here, policy, threads)), html, as_json=as_json)
        return
    if trace is not None:
        from autofinity.workflow.backends import simulated

        simulator = simulated(machine, latencies, reporter=Terminal())
        seen = beside(_simulated(simulator, trace, machine, policy, threads))
        whole = _whole_sharing(simulator, trace, seen.threads) if html is not None else None
        tell_advice(seen, html, whole, as_json=as_json)
        return
    from autofinity.runtime.policies import chosen_policy, read_policy

    choice = chosen_policy(policy)
    if choice is not None:
        read_policy(choice.path)
    if pid is not None:
        from autofinity.workflow.advice.here import seen_here

        tell_advice(beside(seen_here(pid, choice, threads or 0)), html, as_json=as_json)
        return
    assert program is not None
    from autofinity.workflow.advice.launched import seen_launched

    done = seen_launched(
        program, choice, threads=threads or 0, to_stderr=as_json, reporter=Terminal()
    )
    if done.seen is not None:
        done = replace(done, seen=beside(done.seen))
    try:
        _tell_of_launched(program[0], done, html, as_json=as_json)
    except OSError as error:
        complain_unwritten("the advice", error)
    sys.exit(done.exit_code)


def _beside(machine: str, device: str | None, ranks: int | None) -> Callable[[Seen], Seen]:
    """Adds the ranks, and the nodes of --near, which are looked up before anything starts.

    Raises `UsageError` for an unknown device.
    """
    if device is None:
        return lambda seen: replace(seen, ranks=ranks or 0)
    from autofinity.workflow.backends import machine_topology

    nodes = near_nodes(machine_topology(machine), machine, device)
    return lambda seen: replace(seen, near=nodes, device=device, ranks=ranks or 0)


def _tell_of_launched(program: str, done: Launched, html: Path | None, *, as_json: bool) -> None:
    if done.trouble:
        nothing = "no advice" if html is None else "no advice, so no page is written"
        complain(f"{nothing}: {one_line(done.trouble)}")
    if done.seen is not None:
        tell_advice(done.seen, html, as_json=as_json, err=not as_json, exit_code=done.exit_code)
    elif as_json:
        said = {"program": program, "exit_code": done.exit_code, "no_advice": done.trouble}
        say_json(said, indent=2)


def _simulated(
    simulator: SimMachine, trace: Path, machine: str, policy: str | None, threads: int | None
) -> Seen:
    from autofinity.workflow.advice.simulated import seen_simulated

    chosen = policy_on(machine, policy)
    return seen_simulated(simulator, trace, chosen, asked_on(machine, policy), threads)


def _whole_sharing(simulator: SimMachine, trace: Path, threads: int) -> SharingMatrix:
    from autofinity.workflow.detect import WHOLE_TRACE, detect

    return detect(simulator, trace, WHOLE_TRACE, threads=threads).whole.sharing


def _of_file(path: Path, machine: str, wish: str | None, threads: int | None) -> Seen:
    from autofinity.workflow.advice.from_file import HERE, place_named, seen_in_file

    place = place_named(machine)
    if machine == HERE:
        from autofinity.runtime.policies import chosen_policy, read_policy

        choice = chosen_policy(wish)
        chosen = read_policy(choice.path)[0] if choice is not None else None
        asked = f"{choice.path}, {choice.origin}" if choice is not None else ""
        return seen_in_file(path, place, chosen, asked, threads)
    return seen_in_file(path, place, policy_on(machine, wish), asked_on(machine, wish), threads)
