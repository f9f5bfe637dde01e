"""Machines made of a topology and a file of latencies."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from click.testing import CliRunner

from autofinity.cli.topology import command as topology_command
from autofinity.model.errors import TopologyError
from autofinity.model.topology import PU, Cache, OsIndex, Topology
from autofinity.resources import shipped
from autofinity.sim.machine_on import assumed_latencies, machine_on
from autofinity.sim.native import machine_model

CACHES = (Cache(1, 49152, 64, 12, 1), Cache(2, 2 << 20, 64, 16, 1), Cache(3, 30 << 20, 64, 15, 4))


def topology(
    places: list[tuple[int, int, int]],
    distances: list[list[int]] | None = None,
    caches: tuple[Cache, ...] = CACHES,
    efficiency: list[int] | None = None,
) -> Topology:
    """One core for each (LLC domain, package, node)."""
    kinds = efficiency or [0] * len(places)
    pus = tuple(
        PU(OsIndex(core), 0, core, llc, package, node, kind)
        for core, ((llc, package, node), kind) in enumerate(zip(places, kinds, strict=True))
    )
    rows = distances or [[10]]
    return Topology(
        "mine",
        "file",
        pus,
        tuple(OsIndex(i) for i in range(len(rows))),
        tuple(tuple(row) for row in rows),
        frozenset(pu.os_index for pu in pus),
        caches,
    )


def preset(name: str) -> Path:
    return shipped("data", "machines", f"{name}.toml")


def test_sizes_come_from_the_topology_and_times_from_the_file() -> None:
    spec = machine_on(topology([(0, 0, 0)] * 4), preset("xeon-8480"))
    assert (spec.l1.size_bytes, spec.l1.ways) == (49152, 12)
    assert (spec.llc.size_bytes, spec.llc.ways) == (30 << 20, 15)
    assert spec.llc.latency_ns == pytest.approx(88 / 3.0)
    assert spec.latency.dram == (107, 117, 190)
    assert spec.name == "mine"
    machine_model(spec)


def test_what_the_topology_does_not_know_the_file_says() -> None:
    unknown = tuple(dataclasses.replace(cache, ways=0) for cache in CACHES)
    spec = machine_on(topology([(0, 0, 0)], caches=unknown), assumed_latencies())
    assert (spec.l1.size_bytes, spec.l1.ways) == (49152, 12)  # 8, the file's, fit no 48 KiB
    assert (spec.llc.size_bytes, spec.llc.ways) == (30 << 20, 16)
    bare = machine_on(topology([(0, 0, 0), (1, 0, 0)], caches=()), assumed_latencies())
    assert bare.l1.size_bytes == 32768
    assert bare.l2 is not None
    assert bare.llc.size_bytes == 32 << 20
    assert bare.llc_distance == ((0, 1), (1, 0))


def test_with_sub_numa_clusters_each_node_has_its_part_of_the_llc() -> None:
    places = [(0, 0, 0), (0, 0, 0), (1, 0, 1), (1, 0, 1)]
    clustered = dataclasses.replace(topology(places, [[10, 12], [12, 10]]), llc_parts=2)
    spec = machine_on(clustered, preset("ampere-altra"))
    assert (spec.llc.size_bytes, spec.llc_by_home) == (15 << 20, False)  # MOESI
    spec = machine_on(clustered, preset("xeon-8480"))
    assert (spec.llc.size_bytes, spec.llc_by_home) == (15 << 20, True)
    machine_model(spec)
    whole = machine_on(dataclasses.replace(clustered, llc_parts=1), preset("xeon-8480"))
    assert (whole.llc.size_bytes, whole.llc_by_home) == (30 << 20, False)


def test_the_outermost_cache_is_the_llc_and_there_may_be_no_private_l2() -> None:
    two_levels = (Cache(1, 32768, 64, 8, 1), Cache(2, 4 << 20, 64, 16, 2))
    spec = machine_on(topology([(0, 0, 0), (0, 0, 0)], caches=two_levels), assumed_latencies())
    assert spec.l2 is None
    assert spec.llc.size_bytes == 4 << 20
    machine_model(spec)


def test_an_l2_of_several_cores_is_kept_as_such() -> None:
    caches = (CACHES[0], dataclasses.replace(CACHES[1], shared_by_cores=4), CACHES[2])
    spec = machine_on(topology([(0, 0, 0)] * 4, caches=caches), assumed_latencies())
    assert spec.core_classes[0].l2_cores == 4
    assert spec.l2_domains == (0, 0, 0, 0)
    machine_model(spec)


def test_an_l2_that_cores_share_is_inclusive_whatever_the_file_of_latencies_says() -> None:
    caches = (CACHES[0], dataclasses.replace(CACHES[1], shared_by_cores=2), CACHES[2])
    spec = machine_on(topology([(0, 0, 0)] * 2, caches=caches), preset("opteron-6164he"))
    assert spec.l2 is not None
    assert spec.l2.inclusion == "inclusive"


def test_unequal_domains_and_nodes_without_cores_are_machines_too() -> None:
    slit = [[10, 21, 17, 28], [21, 10, 28, 17], [17, 28, 10, 28], [28, 17, 28, 10]]
    spec = machine_on(topology([(0, 0, 0)] * 3 + [(1, 1, 1)], slit), assumed_latencies())
    assert spec.home_nodes == (0, 1, 2, 3)
    # By rank of the SLIT: 17 is nearest, then 21, then 28.
    assert spec.node_distance == ((0, 3, 2, 4), (3, 0, 4, 2), (2, 4, 0, 4), (4, 2, 4, 0))
    machine_model(spec)


def test_pages_live_on_nodes_with_memory_only() -> None:
    two = topology([(0, 0, 0), (1, 1, 1)], [[10, 20], [20, 10]])
    spec = machine_on(
        dataclasses.replace(two, memoryless_nodes=frozenset({1})), assumed_latencies()
    )
    assert spec.home_nodes == (0,)
    machine_model(spec)


def test_more_distances_than_latencies_take_the_last_one() -> None:
    slit = [[10 if a == b else 20 + 5 * abs(a - b) for b in range(8)] for a in range(8)]
    spec = machine_on(topology([(i, i, i) for i in range(8)], slit), assumed_latencies())
    assert spec.node_distance[0] == (0, 2, 3, 4, 5, 5, 5, 5)


def test_packages_that_share_a_node_are_a_hop_apart() -> None:
    spec = machine_on(topology([(0, 0, 0), (1, 0, 0), (2, 1, 0)]), assumed_latencies())
    assert spec.llc_distance == ((0, 1, 2), (1, 0, 2), (2, 2, 0))


def test_hybrid_cores_are_matched_by_speed() -> None:
    cores = topology([(0, 0, 0)] * 3, efficiency=[0, 1, 0])
    spec = machine_on(cores, preset("i9-13900k"))
    assert spec.class_of_core == (1, 0, 1)
    assert spec.core_classes[0].name == "P"
    assert machine_on(cores, assumed_latencies()).class_of_core == (0, 0, 0)
    with pytest.raises(TopologyError, match="got 2 classes, but mine has 1 kind of cores"):
        machine_on(topology([(0, 0, 0)]), preset("i9-13900k"))


def test_links_of_another_machine_say_how_fast_a_link_is() -> None:
    two = topology([(0, 0, 0), (1, 1, 1)], [[10, 20], [20, 10]])
    spec = machine_on(two, preset("opteron-6164he"))
    assert [(link.a_node, link.b_node, link.gbs) for link in spec.bandwidth.links] == [(0, 1, 6.4)]
    same = machine_on(two, preset("xeon-e5-2650"))
    assert [(link.a_node, link.b_node, link.gbs) for link in same.bandwidth.links] == [(0, 1, 32)]


def test_a_latency_file_with_a_strange_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "latencies.toml"
    file.write_text("speed = 3\n" + assumed_latencies().read_text())
    with pytest.raises(TopologyError, match=r"latencies\.toml: speed: unknown key"):
        machine_on(topology([(0, 0, 0)]), file)


def test_every_preset_can_be_drawn() -> None:
    result = CliRunner().invoke(topology_command, ["-m", "i9-13900k"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "L" in result.stdout
