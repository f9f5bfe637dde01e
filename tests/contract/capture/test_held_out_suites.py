"""Suites that nothing is learned from, under capture: every program answers right, and its trace
replays.
"""

from pathlib import Path

import pytest
from abstract_replay import replay
from workshop import compiler

from autofinity._core import trace as core
from autofinity.capture.suite_capture import capture_suite
from autofinity.trace.manifest import load_suite

ROOT = Path(__file__).resolve().parents[3]
THREADS = 4
MOST_ACCESSES = {"kernels": 1_000_000, "solvers": 5_000_000}
"""In the region, at `tiny`, by suite."""
SUITES = {name: load_suite(ROOT / name / "suite.toml") for name in MOST_ACCESSES}


@pytest.mark.parametrize(
    ("suite", "name"), [(suite, name) for suite in SUITES for name in SUITES[suite].programs]
)
def test_a_program_is_captured_and_its_trace_replays(suite: str, name: str, tmp_path: Path) -> None:
    if SUITES[suite].programs[name].language == "fortran" and compiler("f90") is None:
        pytest.skip("no Fortran compiler")
    # and says what is expected
    (meta,) = capture_suite(SUITES[suite], [name], THREADS, "tiny", tmp_path)
    trace = core.read(str(meta.path))
    assert trace.n_accesses == meta.accesses
    assert len(meta.workers()) == THREADS
    assert 0 < meta.roi_accesses < MOST_ACCESSES[suite]
    replay(trace, THREADS)
