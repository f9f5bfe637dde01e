"""A suite's programs, built without instrumentation for the present machine, to be profiled on
it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from autofinity.capture.build import Built, build_program
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.capture.request import (
    CaptureRequest,
    arguments_of,
    environment_of,
    folder_of,
    run_in_words,
    stdin_of,
)
from autofinity.linux.host_machine import Asked
from autofinity.linux.marked_run import Conditions
from autofinity.model.errors import LearningError, LinuxError, SuiteError
from autofinity.ports import RunRequest
from autofinity.profiling.campaign import ReadyProgram
from autofinity.reporter import SILENT, Reporter
from autofinity.trace.manifest import ProgramSpec, Suite
from autofinity.workflow.wanted import Wanted


def host_programs(
    wanted: Wanted, reporter: Reporter = SILENT
) -> tuple[list[ReadyProgram], dict[Asked, Conditions]]:
    """Programs to run, and the conditions of each.

    A notice names programs that cannot be built here, or not run with a thread count. Raises
    `LearningError` when none is left, `SuiteError` for a program that the suite does not have.
    """
    suite, work = wanted.suite, wanted.work
    compilers = Compilers.find(os.environ)
    ready: list[ReadyProgram] = []
    conditions: dict[Asked, Conditions] = {}
    for spec in suite.pick(wanted.programs):
        try:
            built = _built(suite, spec, compilers, work / "programs")
        except (SuiteError, LinuxError) as error:
            reporter.notice(f"{spec.name}: left out: {error}")
            continue
        for count, size in product(wanted.threads, wanted.sizes):
            if not spec.threads.allows(count):
                reporter.notice(f"{spec.name}: not with {count} threads")
                continue
            request = CaptureRequest(suite, spec, built, count, size, work)
            argv = arguments_of(request)
            env = environment_of(request, os.environ)
            del env["OMP_WAIT_POLICY"]  # here each thread has a core of its own
            run = RunRequest(argv[0], argv, count, env, str(folder_of(request, built.out)))
            ready.append(ReadyProgram(spec.name, size, count, run, origin=_origin(request, argv)))
            conditions[argv, count] = Conditions(
                spec.roi == "marks", spec.expect, spec.timeout_s, stdin_of(request)
            )
    if not ready:
        raise LearningError("no program can be run on this machine: see above")
    return ready, conditions


def _origin(request: CaptureRequest, argv: Sequence[str]) -> str:
    """Digest of all that decides what the run does."""
    words = "\0".join(run_in_words(request, argv))
    return hashlib.sha256(os.fsencode(words)).hexdigest()[:16]


def _built(suite: Suite, spec: ProgramSpec, compilers: Compilers, cache: Path) -> Built:
    reason = skip_reason(spec, compilers)
    if reason is not None:
        raise SuiteError(reason)
    if spec.roi == "parallel":
        raise LinuxError(
            'roi = "parallel" is only known to a capture; give it marks (autofinity_roi.h) or '
            'roi = "whole"'
        )
    return build_program(suite, spec, compilers, cache, instrumented=False)
