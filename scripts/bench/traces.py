"""Traces that the parts replay, captured once and kept in build/bench/traces."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import replace
from pathlib import Path

from parts import BUILD

from autofinity.capture.build import Built, build_program
from autofinity.capture.compilers import Compilers
from autofinity.capture.request import CaptureRequest
from autofinity.capture.run import capture
from autofinity.resources import shipped
from autofinity.trace.manifest import ProgramSpec, Suite, load_suite

FRIENDLY = ("lu", "pricer")
"""Programs of which nearly every access hits the first-level cache."""
MIX = ("pic", "stencil", "cg", "mergesort")
"""Programs with about 15 % first-level misses on the Opteron, taken together."""
THREADS = 8


def training() -> Suite:
    return load_suite(shipped("training", "suite.toml"))


def bench() -> Suite:
    return load_suite(Path(__file__).parent / "programs" / "suite.toml")


def built(suite: Suite, spec: ProgramSpec, instrumented: bool) -> Built:
    cache = BUILD / "builds"
    return build_program(suite, spec, Compilers.find(os.environ), cache, instrumented=instrumented)


def request_of(
    suite: Suite, spec: ProgramSpec, size: str, threads: int, instrumented: bool = True
) -> CaptureRequest:
    folder = BUILD / "traces"
    folder.mkdir(parents=True, exist_ok=True)
    return CaptureRequest(suite, spec, built(suite, spec, instrumented), threads, size, folder)


def plain(suite: Suite, name: str, size: str) -> CaptureRequest:
    """The program without instrumentation, to run under another tool."""
    (spec,) = suite.pick((name,))
    return request_of(suite, spec, size, THREADS, instrumented=False)


def _captured(suite: Suite, name: str, size: str, threads: int) -> Path:
    (spec,) = suite.pick((name,))
    return _kept(request_of(suite, spec, size, threads))


def _kept(request: CaptureRequest) -> Path:
    with contextlib.redirect_stdout(sys.stderr):
        return capture(request).path


def capture_training(name: str, size: str = "small", threads: int = THREADS) -> Path:
    return _captured(training(), name, size, threads)


def capture_input(name: str, words: str, threads: int) -> Path:
    """A training program with an input that no size has."""
    suite = training()
    (spec,) = suite.pick((name,))
    size = f"input-{words}"
    own = replace(spec, inputs={size: words})
    return _kept(request_of(suite, own, size, threads))


def chase_size(quick: bool) -> str:
    """The input size of the pointer chase, equal for all programs that are compared."""
    return "small" if quick else "medium"


def capture_chase(quick: bool) -> Path:
    return _captured(bench(), "chase", chase_size(quick), THREADS)
