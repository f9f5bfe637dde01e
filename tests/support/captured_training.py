"""Programs of the training suite, captured with arguments of a test's own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from sim_programs import cpus

from autofinity._core import sim as core
from autofinity._core import trace as traces
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.capture.suite_capture import capture_suite
from autofinity.resources import shipped
from autofinity.sim.replay import simulate
from autofinity.sim.result import SimResult
from autofinity.sim.spec import MachineSpec
from autofinity.trace.manifest import load_suite

LINES_PER_PAGE = 64
ACCESS = 0


@dataclass(frozen=True)
class CapturedTraining:
    """A captured program, ready for replays; its workers in creation order."""

    trace: traces.Trace
    workers: tuple[int, ...]
    program: core.Program

    def run(
        self,
        spec: MachineSpec,
        pus: Sequence[int],
        page_table: dict[int, int] | None = None,
        seed: int = 0,
    ) -> SimResult:
        """Replay with worker i on PU `pus[i]`; `seed` is that of the page colours."""
        return simulate(
            spec, self.program, cpus(*pus), workers=self.workers, page_table=page_table, seed=seed
        )

    def accesses_by_page(self) -> dict[int, npt.NDArray[np.float64]]:
        """Virtual page → accesses of each worker."""
        found: dict[int, npt.NDArray[np.float64]] = {}
        for number, stream in enumerate(self.workers):
            events = self.trace.events(stream)
            runs = events[events["kind"] == ACCESS]
            pages, index = np.unique(runs["value"] // LINES_PER_PAGE, return_inverse=True)
            counts = np.bincount(index, weights=runs["reads"].astype(float) + runs["writes"])
            for page, count in zip(pages.tolist(), counts.tolist(), strict=True):
                found.setdefault(page, np.zeros(len(self.workers)))[number] += count
        return found


def captured_training(name: str, arguments: str, threads: int, out: Path) -> CapturedTraining:
    """Capture the program. Skips the test with the reason where it cannot be compiled."""
    suite = load_suite(shipped("training", "suite.toml"))
    spec = replace(suite.programs[name], inputs={"test": arguments})
    reason = skip_reason(spec, Compilers.find(os.environ))
    if reason is not None:
        pytest.skip(f"{name} cannot be captured: {reason}")
    suite = replace(suite, programs={**suite.programs, name: spec})
    (meta,) = capture_suite(suite, [name], threads, "test", out)
    trace = at_fixed_addresses(traces.read(str(meta.path)))
    return CapturedTraining(trace, tuple(meta.workers()), core.Program(trace))


def at_fixed_addresses(trace: traces.Trace) -> traces.Trace:
    """The trace with its pages numbered in order from 8 on.

    The kernel's choice of pages decides their colours, and with them the misses of a small cache.
    """
    streams = [trace.events(stream) for stream in range(trace.streams)]
    touched = [events["value"][events["kind"] == ACCESS] // LINES_PER_PAGE for events in streams]
    pages = np.unique(np.concatenate(touched))
    builder = traces.TraceBuilder()
    for number, events in enumerate(streams):
        made = builder.stream(trace.parent(number))
        values = events["value"].copy()
        runs = events["kind"] == ACCESS
        page, line = np.divmod(values[runs], LINES_PER_PAGE)
        number_of_page = np.searchsorted(pages, page).astype(np.uint64) + 8
        values[runs] = number_of_page * LINES_PER_PAGE + line
        columns = ("gap", "span", "aux", "reads", "writes", "flags")
        for row in zip(
            events["kind"].tolist(),
            values.tolist(),
            *(events[name].tolist() for name in columns),
            strict=True,
        ):
            builder.event(made, *row)
    return builder.build()
