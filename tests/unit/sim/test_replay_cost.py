"""The cost of a replay is known before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofinity._core import trace as core
from autofinity.free_memory import free_bytes
from autofinity.model.errors import SimulationError
from autofinity.sim import replay
from autofinity.sim.replay_cost import EVENT_BYTES, replay_cost, require_room


def small_trace(folder: Path) -> Path:
    builder = core.TraceBuilder()
    stream = builder.stream()
    builder.thread_begin(stream)
    builder.roi_begin(stream)
    for line in range(50):
        builder.compute(stream, line)
    builder.roi_end(stream)
    builder.thread_end(stream)
    builder.build().write(str(folder))
    return folder


def test_a_replay_that_does_not_fit_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = small_trace(tmp_path)
    events = sum(stream["events"] for stream in core.summary(str(trace))["streams"])
    cost = replay_cost(trace)
    assert cost is not None
    assert cost.memory_bytes == EVENT_BYTES * events
    assert not cost.is_large
    require_room(trace, free=cost.memory_bytes)
    with pytest.raises(SimulationError, match=r"capture it sampled .*--sampled"):
        require_room(trace, free=cost.memory_bytes - 1)
    monkeypatch.setattr("autofinity.sim.replay_cost.free_bytes", lambda: 0)
    with pytest.raises(SimulationError, match=r"0\.0 GiB are free"):
        replay.load_program(trace)


def test_files_that_the_kernel_drops_leave_memory_of_a_cgroup_free(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemAvailable: 1000000 kB\n")
    for name, text in {
        "memory.max": "5000\n",
        "memory.current": "4000\n",
        "memory.stat": "anon 1000\ninactive_file 2500\nactive_file 500\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert free_bytes(tmp_path, tmp_path) == 3500
    (tmp_path / "memory.stat").unlink()
    assert free_bytes(tmp_path, tmp_path) == 1000
