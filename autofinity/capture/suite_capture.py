"""Captures a suite: builds each program, runs it, and keeps its trace; completed steps are not
repeated.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from autofinity.capture.build import build_program
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.capture.request import CaptureRequest
from autofinity.capture.run import capture
from autofinity.capture.sampling import Choice, WindowPlan
from autofinity.capture.synchronisation import lost_order, warning
from autofinity.capture.unrecorded import libraries_not_recorded, library_warning
from autofinity.model.errors import AutofinityError, NoSpaceError, UsageError
from autofinity.trace.manifest import ProgramSpec, Suite
from autofinity.trace.meta import TraceMeta

Stage = Literal["build", "run", "doubt", "done", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """Report on the progress: a program enters a step."""

    program: str
    stage: Stage
    reason: str = ""
    """Reason why the program was skipped or failed, why its trace may be wrong, or what its build
    has left behind."""
    trace: TraceMeta | None = None
    """The trace of a program that is done."""


def capture_suite(
    suite: Suite,
    programs: Sequence[str],
    threads: int,
    size: str,
    out: Path,
    report: Callable[[CaptureReport], None] = lambda _: None,
    builds: Path | None = None,
    keep_going: bool = False,
    sample: Choice = "never",
    most_events: int | None = None,
) -> list[TraceMeta]:
    """Capture the named programs (all without names) and return their traces, in suite order.

    `sample`: whether windows of each run are recorded instead of the whole run. A run that is
    recorded whole and has more than `most_events` fails. `builds` is the cache of binaries, by
    default `out/.builds`. A program that cannot be built for lack of a compiler, or that does not
    accept this thread count or size, is skipped. When a program fails, the others are still
    captured; then its error is raised, or with `keep_going` only reported. Raises `UsageError` when
    no program can be captured, and `NoSpaceError` at once.
    """
    out = Path(os.path.realpath(out))  # programs are built and run in folders of their own
    chosen = suite.pick(tuple(programs))
    require_sizes(suite, chosen, [size])
    compilers = Compilers.find(os.environ)
    traces: list[TraceMeta] = []
    failures: list[AutofinityError] = []
    skipped: list[str] = []
    for spec in chosen:
        reason = skip_reason(spec, compilers) or _unfit(spec, threads, size)
        if reason:
            report(CaptureReport(spec.name, "skipped", reason))
            skipped.append(f"{spec.name}: {reason}")
            continue
        try:
            report(CaptureReport(spec.name, "build"))
            built = build_program(suite, spec, compilers, builds or out / ".builds")
            if built.left_beside:
                report(
                    CaptureReport(spec.name, "doubt", _left_beside(spec.name, built.left_beside))
                )
            files = [path for path in built.out.rglob("*") if path.is_file()]
            if lost := lost_order(files):
                report(CaptureReport(spec.name, "doubt", warning(spec.name, lost)))
            if libraries := libraries_not_recorded(files):
                report(CaptureReport(spec.name, "doubt", library_warning(spec.name, libraries)))
            report(CaptureReport(spec.name, "run"))
            sampling = WindowPlan.chosen(sample, size, threads)
            run = CaptureRequest(suite, spec, built, threads, size, out)
            traces.append(capture(replace(run, most_events=most_events, sampling=sampling)))
            if len(traces[-1].streams) < threads:
                report(CaptureReport(spec.name, "doubt", _too_few(traces[-1])))
            report(CaptureReport(spec.name, "done", trace=traces[-1]))
        except NoSpaceError:
            raise
        except AutofinityError as error:
            report(CaptureReport(spec.name, "failed", str(error)))
            failures.append(error)
    if failures and not (keep_going and traces):
        raise failures[0] if len(failures) == 1 else _several(failures)
    if not traces:
        raise UsageError(f"no program of {suite.path} can be captured: {'; '.join(skipped)}")
    return traces


def require_sizes(suite: Suite, programs: Sequence[ProgramSpec], sizes: Sequence[str]) -> None:
    """Raise `UsageError` for a size that none of these programs has."""
    known = dict.fromkeys(name for spec in programs for name in spec.inputs)
    for size in sizes:
        if size not in known:
            raise UsageError(
                f"{suite.path} has no input of size {size!r} for these programs; expected one of "
                f"{', '.join(known)}"
            )


def _unfit(spec: ProgramSpec, threads: int, size: str) -> str:
    """Why a program has no run of this thread count and size; empty: it has one."""
    if not spec.threads.allows(threads):
        return f"does not run with {threads} threads (allowed: {spec.threads})"
    if size not in spec.inputs:
        return f"has no input of size {size!r} (known: {', '.join(spec.inputs)})"
    return ""


def _left_beside(program: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    return (
        f"the build of {program} left files beside the manifest that run only under capture: "
        f"{shown}; build them again for yourself, or let the build lines work on a copy in {{out}}"
    )


def _too_few(trace: TraceMeta) -> str:
    ran = len(trace.streams)
    return (
        f"{trace.program} with a thread count of {trace.threads} ran {ran} thread"
        f"{'s' if ran > 1 else ''}: "
        f"no affinity of {trace.threads} threads can be replayed; a program that asks for the CPUs "
        f"of the machine (TBB, thread pools of libraries) is to ask for {trace.threads} threads"
    )


def _several(failures: Sequence[AutofinityError]) -> AutofinityError:
    lines = "\n".join(f"- {error}" for error in failures)
    return type(failures[0])(f"{len(failures)} programs failed:\n{lines}")
