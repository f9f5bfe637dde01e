"""Preset files: what the shipped ones say, and how bad ones are refused."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from sim_programs import BASE, cpus

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.model.errors import SimulationError, TopologyError
from autofinity.resources import shipped
from autofinity.sim.events import EVENTS, PAPER_EVENTS
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset, preset_names, read_preset
from autofinity.sim.replay import simulate


def test_the_machine_of_the_paper_has_48_cores_on_8_dies_of_4_sockets() -> None:
    topology = load_preset("opteron-6164he").topology
    assert (topology.n_packages, topology.n_nodes, topology.n_llcs, topology.n_cores) == (
        4,
        8,
        8,
        48,
    )
    assert [pu.os_index for pu in topology.pus if pu.node == 3] == list(range(18, 24))
    assert {pu.package for pu in topology.pus if pu.node in (2, 3)} == {1}


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_loads_and_the_core_accepts_it(name: str) -> None:
    spec = load_preset(name)
    assert spec.name == name
    rows = spec.topology.distances
    assert all(rows[a][b] == rows[b][a] for a in range(len(rows)) for b in range(len(rows)))
    assert all(row[i] == min(row) for i, row in enumerate(rows))
    machine_model(spec)


def test_smt_siblings_of_the_sandy_bridge_are_16_apart() -> None:
    pus = load_preset("xeon-e5-2650").topology.pus
    assert [pu.os_index for pu in pus if pu.core == 5] == [5, 21]


def test_smt_siblings_of_current_servers_are_as_many_apart_as_there_are_cores() -> None:
    for name, cores in (("epyc-9755", 256), ("xeon-6972p", 192), ("ryzen-9-7950x", 16)):
        topology = load_preset(name).topology
        assert (topology.n_cores, len(topology.pus)) == (cores, 2 * cores)
        assert [pu.os_index for pu in topology.pus if pu.core == 5] == [5, 5 + cores]


def test_events_of_the_core_and_their_meanings_agree_in_order() -> None:
    assert list(EVENTS) == core.event_names()
    assert len(EVENTS) >= 40
    assert set(PAPER_EVENTS) <= set(EVENTS)


def test_an_unknown_machine_names_the_nearest() -> None:
    with pytest.raises(TopologyError, match="did you mean opteron-6164he"):
        load_preset("opteron-6164")


PAPERS_MACHINE = shipped("data", "machines", "opteron-6164he.toml").read_text()
LINKS = PAPERS_MACHINE[PAPERS_MACHINE.index("links = [") :].partition("\n]\n")[0] + "\n]"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ways = 2 ", "ways = 0 ", r"l1\.ways: got 0, expected a whole number from 1"),
        ('inclusion = "victim"', 'inclusion = "none"', "expected one of victim, inclusive"),
        ("packages = 4", "packages = 3", "topology.distances: expected 6 rows"),
        ("base_ipc = 1.5", "base_ipc = 9", "above the width"),
        ("window = 72", "windows = 72", "core.windows: unknown key; did you mean window"),
        ("fabric_gbs = 0", "fabric_gbs = 0\nfabrik = 1", "unknown key"),
        ("window = 72", "", "core.window: missing; expected a whole number from 1 to 100000"),
        ("ghz = 1.7 ", "ghz = inf ", "ghz: got inf"),
        ("[pmu]", "[pmu", "not a TOML file"),
        ("size_bytes = 65536", "size_bytes = 65000", "507 sets; expected a power of two"),
        ("l2_ways = 4", "l2_ways = 5", "512 is no multiple of 5 ways"),
        ("dram = [136, 237, 247, 327]", "dram = [136, 237]", "expected 3 to 6 numbers"),
        ("dram = [136, 237, 247, 327]", "dram = [136, 237, 247]", "got 4 values, expected 3"),
        ("further_from = [22]", "further_from = [16, 22]", r"dram: got 4 values; .* so 5 are"),
        (LINKS, "links = [[0, 1, 5]]", "from node 0 to node 2"),
        (LINKS, "links = [[0, 8, 5]]", "expected two of the 8 nodes"),
        (LINKS, "links = [[0.5, 1, 5]]", "a whole number"),
        (LINKS, "link_gbs = [0, 1, 2]", "got 3 values, expected 4"),
        ("memory_gbs = 14.4", "memory_gbs = [1, 2]", "got a list of 2, expected"),
        (
            'name = "op',
            'page_bytes = 5000\nname = "op',
            "got 5000, expected one of 4096, 16384, 2097152",
        ),
    ],
)
def test_a_bad_preset_is_refused_with_its_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in PAPERS_MACHINE
    path = tmp_path / "bad.toml"
    path.write_text(PAPERS_MACHINE.replace(old, new, 1))
    with pytest.raises(TopologyError, match=message):
        read_preset(path)


def test_a_preset_file_that_is_not_there_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match=r"nothing\.toml: cannot be read"):
        load_preset(str(tmp_path / "nothing.toml"))


def test_a_deeply_nested_or_endless_machine_file_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / "deep.toml"
    deep.write_text("a = " + "[" * 20_000)
    with pytest.raises(TopologyError, match="not a TOML file"):
        read_preset(deep)
    with pytest.raises(TopologyError, match="neither a regular file nor a pipe"):
        read_preset(Path("/dev/zero"))


def meeting(threads: int) -> Trace:
    """Every thread stores to its own line and to one that all share, then to its neighbour's."""
    builder = TraceBuilder()
    for thread in [builder.stream() for _ in range(threads)]:
        builder.access(thread, BASE + 64 * thread, 1, 1)
        builder.access(thread, BASE + 64 * threads, 1, 1)
        builder.barrier(thread, 1, threads)
        builder.access(thread, BASE + 64 * ((thread + 1) % threads), 1, 1)
    return builder.build()


@pytest.mark.parametrize("name", ["epyc-9654", "epyc-9755", "xeon-8480"])
@pytest.mark.parametrize("threads", [2, 3, 17, 64, 65, 112])
def test_threads_run_on_any_cores_of_a_large_machine(name: str, threads: int) -> None:
    spec = load_preset(name)
    cores = list({pu.core: int(pu.os_index) for pu in spec.topology.pus}.values())
    rng = random.Random(threads)
    trace = meeting(threads)
    for placed in (cores[:threads], cores[-threads:], rng.sample(cores, threads)):
        result = simulate(spec, trace, cpus(*placed))
        assert result.total("data_cache_stores") == 4 * threads  # that to the barrier, too
        assert result.total("invalidations_sent") >= threads


def test_threads_run_on_all_hardware_threads_of_the_largest_machine() -> None:
    spec = load_preset("epyc-9755")
    pus = [int(pu.os_index) for pu in spec.topology.pus]
    assert (spec.topology.n_llcs, len(pus)) == (32, 512)
    result = simulate(spec, meeting(len(pus)), cpus(*pus))
    assert result.total("data_cache_stores") == 4 * len(pus)
    assert result.total("invalidations_sent") >= spec.topology.n_cores


def test_a_machine_of_more_llcs_than_the_directory_knows_is_refused() -> None:
    spec = load_preset("epyc-9654")
    pus = tuple(replace(pu, llc=pu.core % 33) for pu in spec.topology.pus)
    many = replace(spec, topology=replace(spec.topology, pus=pus))
    with pytest.raises(SimulationError, match="a machine of 33 LLC domains; 1 to 32 can be"):
        machine_model(many)


def test_a_machine_whose_lines_leave_a_node_to_come_back_to_it_is_refused() -> None:
    machine = machine_model(load_preset("opteron-6164he"))
    machine.route_begin = [0, *(begin + 1 for begin in list(machine.route_begin)[1:])]
    machine.route_links = [0, *machine.route_links]
    with pytest.raises(SimulationError, match="a route leads from a node to itself"):
        machine.validate()
