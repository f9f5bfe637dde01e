"""Captured programs of the training suite, compared with the machine code that users run, under
QEMU.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from autofinity.capture.binary import BinaryRequest, capture_binary
from autofinity.capture.build import build_program
from autofinity.capture.compilers import Compilers
from autofinity.capture.request import CaptureRequest, arguments_of
from autofinity.capture.run import capture
from autofinity.resources import shipped
from autofinity.trace.manifest import ProgramSpec, Suite, load_suite
from autofinity.trace.meta import TraceMeta


@dataclass(frozen=True)
class Counts:
    """Sums over all threads in the region of interest."""

    instructions: int
    accesses: int


@dataclass(frozen=True)
class Beside:
    """One program, counted in two ways."""

    captured: Counts
    machine_code: Counts
    """Counts of the program built without instrumentation, as QEMU sees it."""

    @property
    def instructions(self) -> float:
        """Captured instructions over those of the machine code."""
        return self.captured.instructions / self.machine_code.instructions

    @property
    def accesses(self) -> float:
        """Captured accesses over those of the machine code."""
        return self.captured.accesses / self.machine_code.accesses


def training_suite(flags: str | None = None) -> Suite:
    """The training suite; with other optimisation flags, if there are any."""
    suite = load_suite(shipped("training", "suite.toml"))
    if flags is None:
        return suite
    programs = {name: _with_flags(spec, flags) for name, spec in suite.programs.items()}
    return replace(suite, programs=programs)


def _with_flags(spec: ProgramSpec, flags: str) -> ProgramSpec:
    lines = tuple(line.replace("-O3 {vectors}", flags) for line in spec.build)
    assert lines != spec.build
    return replace(spec, build=lines)


def beside_qemu(suite: Suite, name: str, threads: int, size: str, folder: Path) -> Beside:
    """Build the program in both ways and run both. `folder` keeps the builds."""
    spec = suite.programs[name]
    compilers = Compilers.find(os.environ)
    built = build_program(suite, spec, compilers, folder / "builds")
    meta = capture(CaptureRequest(suite, spec, built, threads, size, folder / "captured"))
    plain = build_program(suite, spec, compilers, folder / "builds", instrumented=False)
    argv = arguments_of(CaptureRequest(suite, spec, plain, threads, size, folder))
    roi = spec.roi
    request = BinaryRequest(argv, folder / "binary", threads, roi=roi, to_stderr=True)
    done = capture_binary(request)
    assert done.exit_code == 0
    return Beside(_counts(meta), _counts(done.meta))


def _counts(meta: TraceMeta) -> Counts:
    return Counts(sum(stream.roi_instructions for stream in meta.streams), meta.roi_accesses)
