"""The speeds of the machine that the tests run on, whatever it is."""

import math
import os
from dataclasses import astuple, replace

import pytest

from autofinity.linux.topology import host_topology
from autofinity.model.topology import OsIndex
from autofinity.recording.bench import Bench
from autofinity.recording.memory_speeds import STEPS, MemorySpeeds

BENCH = Bench.of(quick=True)


def test_this_machine_has_speeds_that_can_be() -> None:
    topology = host_topology()
    steps: list[str] = []
    speeds = MemorySpeeds(topology, BENCH, steps.append).measured()
    assert len(steps) == STEPS
    assert 0.1 < speeds.ghz < 10
    assert 0 < speeds.llc_path_gbs <= speeds.node_gbs < 1e5
    assert all(value > 0 or math.isnan(value) for value in astuple(speeds))
    llcs = {pu.llc for pu in topology.pus if pu.os_index in topology.allowed}
    if len(llcs) == 1:
        assert math.isnan(speeds.far_llc_ns)


def test_one_cpu_shows_nothing_of_what_is_between_cores() -> None:
    topology = host_topology()
    one = OsIndex(min(os.sched_getaffinity(0)))
    speeds = MemorySpeeds(topology.restricted(frozenset({one})), BENCH, lambda _: None).measured()
    assert math.isnan(speeds.same_llc_ns) and math.isnan(speeds.far_llc_ns)
    assert speeds.llc_path_gbs > 0


def test_a_cpu_that_is_not_there_is_an_error_that_names_it() -> None:
    topology = host_topology()
    gone = OsIndex(4096)
    pus = tuple(replace(pu, os_index=gone) for pu in topology.pus[:1])
    with pytest.raises(OSError, match="4096"):
        MemorySpeeds(
            replace(topology, pus=pus, allowed=frozenset({gone})), BENCH, lambda _: None
        ).measured()
