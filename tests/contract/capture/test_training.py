"""Programs of the training suite under capture: whole traces that replay under any schedule."""

from pathlib import Path

import pytest
from abstract_replay import replay

from autofinity._core import trace as core
from autofinity.capture.suite_capture import capture_suite
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite

# Regions, barriers, condition queues, cell locks, tasks, flags.
PROGRAMS = ("pricer", "kmedian", "dedup", "fluid", "mergesort", "align", "stencil", "lbm")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_training_program_is_captured_and_its_trace_replays(name: str, tmp_path: Path) -> None:
    suite = load_suite(shipped("training", "suite.toml"))
    (meta,) = capture_suite(suite, [name], 5, "tiny", tmp_path)
    trace = core.read(str(meta.path))
    assert trace.digest == meta.digest
    # One that reaches into a second line, as vectors do, is an access to either in both.
    assert trace.n_accesses == meta.accesses
    assert len(meta.workers()) == 5
    assert 0 < meta.roi_accesses <= meta.accesses
    assert meta.bytes < 8 * meta.accesses
    replay(trace, 4)
