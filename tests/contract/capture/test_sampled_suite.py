"""Sampled captures of a suite's programs: when, and what their description says."""

from pathlib import Path

import pytest

from autofinity._core import trace as core
from autofinity.capture.sampling import Choice, WindowPlan
from autofinity.capture.suite_capture import capture_suite
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite
from autofinity.trace.meta import TraceMeta, read_meta


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Windows lie so close that there are some in tiny inputs."""
    monkeypatch.setattr(WindowPlan, "of", lambda threads: WindowPlan(32768, 16384))
    return tmp_path


def captured(out: Path, sample: Choice = "never") -> TraceMeta:
    suite = load_suite(shipped("training", "suite.toml"))
    (meta,) = capture_suite(suite, ("stencil",), 4, "tiny", out, sample=sample)
    return meta


def test_its_description_says_what_was_recorded(traces: Path) -> None:
    meta = captured(traces, "always")
    assert meta.sampling is not None
    trace = core.read_sampled(str(meta.path))
    assert meta.sampling.windows == len(trace.windows["work_begin"]) > 3
    expected = meta.sampling.windows * 16384  # threads notice cuts within 4096 accesses
    assert 0.7 * expected < meta.sampling.recorded_accesses < meta.accesses
    assert meta.sampling.snapshot_bytes > 0
    assert meta.digest == trace.digest
    assert read_meta(meta.path) == meta


def test_it_is_made_again_where_the_other_kind_is_there(traces: Path) -> None:
    whole = captured(traces)
    assert whole.sampling is None
    sampled = captured(traces, "always")
    assert sampled.key != whole.key
    assert captured(traces, "always") == sampled
    assert core.is_sampled(str(sampled.path))


def test_a_short_region_is_recorded_whole(tmp_path: Path) -> None:
    meta = captured(tmp_path, "always")
    assert meta.sampling is None
    assert core.read(str(meta.path)).n_accesses == meta.accesses
    assert captured(tmp_path, "always") == meta  # and not made again
