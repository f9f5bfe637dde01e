"""`autofinity record-machine` on the machine that runs the tests, whatever it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from sim_programs import streaming

from autofinity.cli.record_machine import command
from autofinity.linux.event_tables import this_cpu
from autofinity.linux.topology import host_topology
from autofinity.sim.preset import read_preset
from autofinity.sim.replay import simulate
from autofinity.sim.sources import count_marks
from autofinity.sim.spec import MachineSpec
from autofinity.workflow.backends import simulated


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    path = tmp_path_factory.mktemp("recorded") / "this-host.toml"
    result = CliRunner().invoke(
        command, ["--quick", "--json", "-o", str(path)], catch_exceptions=False
    )
    assert result.exit_code == 0
    document: dict[str, object] = json.loads(result.stdout)
    return path, document


@pytest.fixture(scope="module")
def spec(recorded: tuple[Path, dict[str, object]]) -> MachineSpec:
    return read_preset(recorded[0])


def sysfs_sizes() -> dict[int, int]:
    """Level → bytes of the data caches of the first CPU we may use, read on a way of its own."""
    found = {}
    cpu = min(os.sched_getaffinity(0))
    for index in Path(f"/sys/devices/system/cpu/cpu{cpu}/cache").glob("index*"):
        if (index / "type").read_text().strip() != "Instruction":
            kib = (index / "size").read_text().strip().removesuffix("K")
            found[int((index / "level").read_text())] = int(kib) * 1024
    return found


def test_the_cache_sizes_are_those_of_sysfs(spec: MachineSpec) -> None:
    sizes = sysfs_sizes()
    if len(sizes) < 2:
        pytest.skip("the kernel tells of no caches here")
    assert spec.l1.size_bytes == sizes[1]
    assert spec.llc.size_bytes == sizes[max(sizes)]
    assert (spec.l2.size_bytes if spec.l2 else None) == (sizes[2] if max(sizes) > 2 else None)


def test_the_topology_is_that_of_the_host(spec: MachineSpec) -> None:
    host = host_topology()
    assert [(pu.os_index, pu.core, pu.llc, pu.package, pu.node) for pu in spec.topology.pus] == [
        (pu.os_index, pu.core, pu.llc, pu.package, pu.node) for pu in host.pus
    ]
    assert spec.topology.distances == host.distances
    assert spec.page_bytes == host.page_sizes_bytes[0]
    assert spec.cpu == (this_cpu() if this_cpu().vendor else None)


def test_memory_is_farther_than_the_first_level(spec: MachineSpec) -> None:
    assert 0 < spec.l1.latency_ns < spec.latency.dram[0]
    assert 0.1 < spec.ghz < 10
    assert spec.bandwidth.memory_gbs[0] > 0
    assert 1 <= spec.core.misses_in_flight <= 32


def test_the_recorded_machine_simulates(recorded: tuple[Path, dict[str, object]]) -> None:
    path, document = recorded
    machine = simulated(str(path))
    assert document["name"] == machine.spec.name == "this-host"
    first = machine.spec.topology.pus[0].os_index
    result = simulate(machine.spec, streaming(1, pages_each=4, repeats=2), [first])
    assert result.roi_ns > 0


def test_every_value_says_where_it_comes_from(
    recorded: tuple[Path, dict[str, object]],
) -> None:
    counts = count_marks(recorded[0].read_text())
    assert counts[""] == 0
    assert counts["M"] > 10


def test_the_operating_system_is_measured(spec: MachineSpec) -> None:
    assert 0.05 < spec.system.context_switch_us < 1000
    assert 0 <= spec.system.wake_us < 1000
    assert 0 < spec.system.migration_us < 100_000


def test_a_folder_that_is_not_there_is_said_before_anything_is_measured(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["-o", str(tmp_path / "no" / "host.toml")])
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
