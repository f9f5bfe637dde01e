"""Known behaviour of STREAM, on a machine whose dies each have a link to memory."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.capture.suite_capture import capture_suite
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.sim.preset import load_preset
from autofinity.sim.sampled import Precision
from autofinity.trace.manifest import load_suite
from autofinity.workflow.simulate import Seats, simulate_trace

KERNELS = Path(__file__).resolve().parents[3] / "kernels" / "suite.toml"
THREADS = 8
ELEMENTS, SWEEPS = 12_000_000, 4
FEW = Precision(at_least=2)
"""Two windows show a factor of two."""


def test_stream_triad_spreads(tmp_path: Path) -> None:
    """Also where its vectors fit no caches, so that only bandwidth is to be had elsewhere."""
    epyc = load_preset("epyc-9654")
    assert THREADS * epyc.llc.size_bytes < 3 * 8 * ELEMENTS
    suite = load_suite(KERNELS)
    spec = replace(suite.programs["stream-triad"], inputs={"dram": f"{ELEMENTS} {SWEEPS}"})
    reason = skip_reason(spec, Compilers.find(os.environ))
    if reason is not None:
        pytest.skip(f"triad cannot be captured: {reason}")
    suite = replace(suite, programs={spec.name: spec})
    (meta,) = capture_suite(suite, (), THREADS, "dram", tmp_path, sample="always")
    packed, spread = (
        simulate_trace(epyc, meta.path, Seats(hint=hint), precision=FEW).roi_ns
        for hint in (PACKED, SPREAD)
    )
    assert packed > 2 * spread
