"""Captures a suite's programs, and any binary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from autofinity.capture.binary import BinaryRequest, capture_binary
from autofinity.capture.sampling import Choice
from autofinity.capture.suite_capture import CaptureReport, capture_suite, require_sizes
from autofinity.capture.synchronisation import warning
from autofinity.foreign_text import one_line
from autofinity.free_memory import free_bytes
from autofinity.model.errors import SimulationError
from autofinity.ports import RunRequest
from autofinity.profiling.campaign import ReadyProgram
from autofinity.reporter import SILENT, Reporter
from autofinity.sim.replay_cost import EVENT_BYTES, ReplayCost, replay_cost, require_room
from autofinity.trace.manifest import Suite
from autofinity.trace.meta import TraceMeta
from autofinity.workflow.meanwhile import told_meanwhile, told_of_long_steps
from autofinity.workflow.wanted import Wanted

_SLOW = "QEMU records each access to memory, which takes many times as long as the program alone"


def capture_program(request: BinaryRequest, reporter: Reporter = SILENT) -> TraceMeta:
    """Run `capture_binary`, whose errors it raises; notices say that the program runs long,
    that the order of some calls is not in the trace, and that the program failed.
    """
    program = request.argv[0] if request.argv else ""
    with told_meanwhile(one_line(program), lambda: _SLOW, reporter):
        done = capture_binary(request)
    if done.lost_order:
        reporter.notice(warning(program, done.lost_order))
    if done.exit_code != 0:
        reporter.notice(f"{program} ended with exit code {done.exit_code}; its trace is kept")
    return done.meta


def capture_traces(
    suite: Suite,
    programs: tuple[str, ...],
    threads: int,
    size: str,
    out: Path,
    *,
    keep_going: bool = False,
    sample: Choice = "never",
    most_events: int | None = None,
    reporter: Reporter = SILENT,
    captured: Callable[[TraceMeta], object] = lambda _: None,
) -> list[TraceMeta]:
    """Run `capture_suite`, whose errors it raises; a notice gives the reason for each program left
    out. `captured` is called with each trace as it is complete.
    """
    left_out: list[CaptureReport] = []
    doubts: list[str] = []
    with (
        _said_after(doubts, reporter),
        reporter.progress(f"capture {threads}t", len(suite.pick(programs))) as done,
        told_of_long_steps(reporter) as begins,
    ):

        def report(now: CaptureReport) -> None:
            if now.stage == "skipped" or (now.stage == "failed" and keep_going):
                left_out.append(now)
            if now.stage == "build":
                begins(f"the build of {now.program} has gone on")
            if now.stage == "run":
                begins(f"{now.program} has run under capture")
            if now.stage == "doubt":
                doubts.append(now.reason)
            if now.trace is not None:
                captured(now.trace)
            if now.stage in ("done", "skipped", "failed"):
                done.step(now.program)

        traces = capture_suite(
            suite,
            programs,
            threads,
            size,
            out,
            report,
            keep_going=keep_going,
            sample=sample,
            most_events=most_events,
        )
    for now in left_out:
        reporter.notice(f"{now.program} is left out: {now.reason}")
    scalar = [trace.program for trace in traces if trace.instructions != "counted"]
    if scalar:
        reporter.notice(
            f"accesses and instructions of {', '.join(scalar)} are approximate, as for code "
            "without vectors: it was not built by GCC 9 or later on x86-64 (docs/suites.md)"
        )
    return traces


@contextmanager
def _said_after(doubts: list[str], reporter: Reporter) -> Iterator[None]:
    """Notices of what the block leaves in `doubts`, also where the block fails."""
    try:
        yield
    finally:
        for doubt in doubts:
            reporter.notice(doubt)


def capture(
    wanted: Wanted, threads: int, reporter: Reporter = SILENT, *, sample: Choice = "never"
) -> list[ReadyProgram]:
    """The wanted programs with `threads` threads, captured, for the simulator to replay.

    Programs that cannot be captured are left out. Raises the errors of `capture_suite` when none
    can, and before any work for a size that no program has.
    """
    require_sizes(wanted.suite, wanted.suite.pick(wanted.programs), wanted.sizes)
    traces = [
        trace
        for size in wanted.sizes
        for trace in capture_traces(
            wanted.suite,
            wanted.programs,
            threads,
            size,
            wanted.work / "traces",
            keep_going=True,
            sample=sample,
            most_events=free_bytes() // EVENT_BYTES,
            reporter=reporter,
        )
    ]
    traces = _that_fit(traces, wanted.at_once, reporter)
    return [
        ReadyProgram(
            trace.program,
            trace.input,
            trace.threads,
            RunRequest(program=str(trace.path), threads=trace.threads),
            origin=trace.digest,
            sampled=trace.sampling is not None,
        )
        for trace in traces
    ]


def _that_fit(traces: list[TraceMeta], jobs: int, reporter: Reporter) -> list[TraceMeta]:
    """The traces whose replay fits into memory; a notice names the others.

    Raises `SimulationError` when no trace fits.
    """
    fit: list[TraceMeta] = []
    costs: list[ReplayCost] = []
    refused: list[SimulationError] = []
    for trace in traces:
        cost = replay_cost(trace.path)
        try:
            require_room(trace.path)
        except SimulationError as error:
            refused.append(error)
            continue
        fit.append(trace)
        costs += [cost] if cost is not None else []
    if refused and not fit:
        raise refused[0]
    for why in refused:
        reporter.notice(f"left out: {why}")
    costs.sort(key=lambda cost: -cost.memory_bytes)
    together = sum(cost.memory_bytes for cost in costs[:jobs])
    if costs and (costs[0].is_large or together > free_bytes()):
        reporter.notice(
            f"replays take up to {costs[0]} each; {min(jobs, len(costs))} at a time, up to "
            f"{together / 2**30:.2f} GiB"
            + ("" if together <= free_bytes() else ", which is more than is free: take less --jobs")
        )
    return fit
