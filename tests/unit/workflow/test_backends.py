"""Machines by name, as every command and script takes them."""

from __future__ import annotations

import pytest
from told import Told

from autofinity.model.errors import TopologyError, UsageError
from autofinity.resources import shipped
from autofinity.workflow.backends import PAGE_SIZES, machine_topology, simulated, simulated_spec


def test_a_preset_a_file_of_it_and_its_topology_are_the_same_machine() -> None:
    file = str(shipped("data", "machines", "xeon-e5-2650.toml"))
    assert simulated_spec("xeon-e5-2650") == simulated_spec(file)
    assert machine_topology("xeon-e5-2650") == simulated_spec(file).topology


@pytest.mark.parametrize("size", PAGE_SIZES)
def test_pages_have_the_size_that_is_asked_for(size: str) -> None:
    assert simulated("xeon-e5-2650", page_size=size).spec.page_bytes == PAGE_SIZES[size]


def test_a_topology_alone_is_simulated_with_assumed_latencies_and_says_so() -> None:
    told = Told()
    machine = simulated("synthetic:pack:2 numa:1 l3:1 core:4 pu:1", reporter=told)
    assert machine.spec.latency.dram[0] == 90
    (notice,) = told.notices
    assert "assumed; give others with --latencies" in notice
    other = simulated("synthetic:pack:2 numa:1 l3:1 core:4 pu:1", "xeon-e5-2650", reporter=told)
    assert other.spec.latency.dram[0] == 86
    assert told.notices == [notice]


@pytest.mark.parametrize(
    ("machine", "latencies", "message"),
    [
        ("opteron-6164he", "xeon-8480", "opteron-6164he has its own"),
        ("host", None, "record-machine -o host.toml"),
        ("no/such.toml", None, "there is no such machine file"),
        ("pdp-11", None, "unknown machine 'pdp-11'; expected .*, a machine file"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    machine: str, latencies: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        simulated(machine, latencies)


def test_a_latency_file_that_is_not_there_is_named() -> None:
    with pytest.raises(TopologyError, match=r"nothing\.toml: cannot be read"):
        simulated("synthetic:core:2 pu:1", "nothing.toml")
