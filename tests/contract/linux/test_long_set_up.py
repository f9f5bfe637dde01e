"""A running program is not sampled before it has touched its memory.

`sim/test_long_set_up.py` is the same of a simulated one.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from compiled import compiled
from first_sample import FirstSample
from live_run import preferred

from autofinity.linux.process import LinuxProcess, open_pidfd
from autofinity.linux.topology import host_topology
from autofinity.model.affinity import PACKED
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.policy.selector import decide
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.live_state import Settings
from autofinity.runtime.loop import run_loop

POLICY = RulePolicy(("context_switches",), {}, (), PACKED)
"""A counter that is there without a PMU."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("set_up.c")
    return compiled([source], tmp_path_factory.mktemp("set_up") / "set_up")


def watched(program: Path, set_up_s: float) -> tuple[FirstSample, float]:
    """First sample of the program, which ends with it, and seconds from before its start to its
    first sample.
    """

    class Ending(FirstSample):
        def saw(self, *turn: Any) -> None:
            super().saw(*turn)
            if self.at_ns >= 0:
                child.kill()

    topology, seen = host_topology(), Ending()
    allowed = frozenset(OsIndex(cpu) for cpu in os.sched_getaffinity(0))
    mechanism = LivePolicy(
        topology,
        POLICY,
        decide,
        lambda: allowed,
        lambda threads: None,
        Settings(threads=2, bind="none"),
    )
    started_ns = time.monotonic_ns()
    with preferred(), subprocess.Popen([program, str(set_up_s), "300"]) as child:
        try:
            process = LinuxProcess(child.pid, open_pidfd(child.pid), allowed)
            start = mechanism.begin(topology, allowed, 2)
            run_loop(process, mechanism, start, mechanism.period_ns, seen)
            process.close()
        finally:
            child.kill()
    return seen, (seen.at_ns - started_ns) / 1e9


def test_a_running_program_is_sampled_after_its_set_up(program: Path) -> None:
    seen, after_s = watched(program, 1.5)
    assert after_s > 1.5
    assert max(seen.resident_bytes) > min(seen.resident_bytes) + 10e6
    # Threads that are where they are sampled, by chance, have nothing to settle after.
    assert seen.phases[0] == "watching"
    assert seen.phases[1] in ("settling", "sampling")


def test_a_program_without_a_set_up_is_not_kept_waiting_for_one(program: Path) -> None:
    """Waited for its threads, which a crowded machine holds up, but for no memory."""
    seen, _ = watched(program, 0)
    assert seen.at_ns > 0
    assert max(seen.resident_bytes) < min(size for size in seen.resident_bytes if size) + 10e6
