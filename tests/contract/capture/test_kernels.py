"""The suite of kernels under capture: every kernel answers right, and its trace replays."""

from pathlib import Path

import pytest
from abstract_replay import replay

from autofinity._core import trace as core
from autofinity.capture.suite_capture import capture_suite
from autofinity.trace.manifest import load_suite

SUITE = load_suite(Path(__file__).resolve().parents[3] / "kernels" / "suite.toml")
THREADS = 4
MOST_ACCESSES = 1_000_000


@pytest.mark.parametrize("name", SUITE.programs)
def test_a_kernel_is_captured_and_its_trace_replays(name: str, tmp_path: Path) -> None:
    (meta,) = capture_suite(SUITE, [name], THREADS, "tiny", tmp_path)  # and says what is expected
    trace = core.read(str(meta.path))
    assert trace.n_accesses == meta.accesses
    assert len(meta.workers()) == THREADS
    assert 0 < meta.roi_accesses < MOST_ACCESSES
    replay(trace, THREADS)
