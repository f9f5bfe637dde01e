"""How packages, caches, cores and nodes become a topology, and the sysfs reader."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from made_up_machine import machine

from autofinity.affinity.hints import get_affinity
from autofinity.linux.gaps import gaps
from autofinity.linux.machine_tree import RawCache, RawMachine, RawNode, RawPU, build_topology
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.linux.topology import as_sysfs_has_it
from autofinity.mapping.cost import is_known
from autofinity.model.affinity import HINTS
from autofinity.model.errors import TopologyError
from autofinity.model.topology import UNKNOWN_NODE, OsIndex, Topology
from autofinity.policy.shipped import shape_of
from autofinity.sim.preset import load_preset
from tests.support.topology_sysfs_tree import write_sysfs


def raw(pus: list[RawPU], nodes: list[RawNode] | None = None, **other: object) -> RawMachine:
    fields: dict[str, object] = {
        "pus": tuple(pus),
        "nodes": tuple(nodes or ()),
        "caches": {number: RawCache(2, 1 << 20, 64, 8) for pu in pus for number in pu.caches},
        "distances": {},
        "allowed": frozenset(pu.os_index for pu in pus),
        "model": "",
        "page_sizes_bytes": (),
    }
    return RawMachine(**(fields | other))  # type: ignore[arg-type]


def test_a_domain_is_what_shares_the_outermost_cache() -> None:
    pus = [RawPU(i, 0, i, (10 + i, 20 + i // 2), 0) for i in range(4)]
    assert [pu.llc for pu in build_topology(raw(pus), "m", "file").pus] == [0, 0, 1, 1]


def test_with_sub_numa_clusters_each_node_is_a_domain_with_its_part_of_the_cache() -> None:
    pus = [RawPU(i, 0, i, (7,), 0) for i in range(4)]
    nodes = [RawNode(0, frozenset({0, 1})), RawNode(1, frozenset({2, 3}))]
    topology = build_topology(raw(pus, nodes), "m", "file")
    assert [pu.llc for pu in topology.pus] == [0, 0, 1, 1]
    assert (topology.llc_parts, topology.caches[-1].shared_by_cores) == (2, 4)


def test_a_cache_with_a_cpu_in_no_node_is_not_divided() -> None:
    pus = [RawPU(i, 0, i, (7,), 0) for i in range(5)]
    nodes = [RawNode(0, frozenset({0, 1})), RawNode(1, frozenset({2, 3}))]
    topology = build_topology(raw(pus, nodes), "m", "file")
    assert [pu.llc for pu in topology.pus] == [0] * 5
    assert topology.llc_parts == 1


def test_the_hints_of_a_machine_with_sub_numa_clusters_are_those_of_its_machine_file(
    tmp_path: Path,
) -> None:
    preset = load_preset("xeon-8480").topology
    found = read_sysfs(
        write_sysfs(tmp_path, preset, clustered=True),
        allowed=frozenset(pu.os_index for pu in preset.pus),
    )
    assert shape_of(found) == shape_of(preset)
    for threads, hint in product((8, 28, 112), HINTS):
        expected = get_affinity(preset, threads, hint)
        assert get_affinity(found, threads, hint).cpus == expected.cpus


def test_cores_without_a_cache_are_a_domain_a_package_and_node() -> None:
    pus = [RawPU(0, 0, 0, (), 0), RawPU(1, 0, 0, (), 0), RawPU(2, 0, 1, (), 0)]
    topology = build_topology(raw(pus), "m", "file")
    assert [pu.llc for pu in topology.pus] == [0, 0, 0]
    assert [pu.smt_rank for pu in topology.pus] == [0, 1, 0]
    assert (topology.llc_bytes, topology.llcs_are_caches) == (0, False)
    pus = [RawPU(i, i // 4, i, (), 0) for i in range(8)]
    nodes = [RawNode(0, frozenset({0, 1})), RawNode(1, frozenset({2, 3, 4, 5, 6, 7}))]
    topology = build_topology(raw(pus, nodes), "m", "file")
    assert [pu.llc for pu in topology.pus] == [0, 0, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("level", "shared", "llcs"),
    [(2, 1, [0, 0, 1, 1]), (2, 2, [0, 0, 1, 1]), (3, 1, [0, 1, 2, 3]), (0, 1, [0, 1, 2, 3])],
    ids=["an L2 each", "an L2 for two", "an L3 each", "a cache of unknown level each"],
)
def test_only_an_l3_of_one_core_is_a_domain(level: int, shared: int, llcs: list[int]) -> None:
    pus = [RawPU(i, 0, i, (i // shared,), 0, level) for i in range(4)]
    nodes = [RawNode(0, frozenset({0, 1})), RawNode(1, frozenset({2, 3}))]
    topology = build_topology(raw(pus, nodes), "m", "file")
    assert [pu.llc for pu in topology.pus] == llcs


def test_an_altra_as_linux_shows_it_is_the_machine_whose_policy_is_shipped(tmp_path: Path) -> None:
    """Linux knows its L1 and L2 of one core, and not the system-level cache of a socket."""
    preset = load_preset("ampere-altra").topology
    cores = {pu.os_index: pu.core for pu in preset.pus}
    alone = replace(preset, pus=tuple(replace(pu, llc=cores[pu.os_index]) for pu in preset.pus))
    found = read_sysfs(write_sysfs(tmp_path, alone), allowed=preset.allowed)
    assert shape_of(found) == shape_of(preset)
    for threads, hint in product((2, 8, 80), HINTS):
        expected = get_affinity(preset, threads, hint)
        assert get_affinity(found, threads, hint).cpus == expected.cpus


def test_a_cache_that_spans_packages_is_a_domain_in_each() -> None:
    pus = [RawPU(i, i // 2, i, (7,), 0) for i in range(4)]
    assert [pu.llc for pu in build_topology(raw(pus), "m", "file").pus] == [0, 0, 1, 1]


def test_of_several_local_nodes_the_narrowest_and_then_the_first_counts() -> None:
    pus = [RawPU(i, 0, i, (), 0) for i in range(4)]
    nodes = [
        RawNode(0, frozenset({0, 1})),
        RawNode(4, frozenset({0, 1})),
        RawNode(9, frozenset({0, 1, 2})),
    ]
    topology = build_topology(raw(pus, nodes), "m", "file")
    assert [pu.node for pu in topology.pus] == [0, 0, 2, 3]
    assert topology.node_os_indices == (0, 4, 9, UNKNOWN_NODE)


def test_a_cpu_in_no_node_is_in_none_of_the_known_ones() -> None:
    pus = [RawPU(i, i // 2, i, (), 0) for i in range(6)]
    nodes = [RawNode(0, frozenset({0, 1})), RawNode(7, frozenset({2}))]
    topology = build_topology(raw(pus, nodes), "m", "file")
    # A stand-in a package: what is in none need not be together.
    assert [pu.node for pu in topology.pus] == [0, 0, 1, 2, 3, 3]
    assert topology.unknown_nodes == {2, 3} == topology.memoryless_nodes
    assert topology.cpus_without_node == {3, 4, 5}
    assert topology.distances[2] == (20, 20, 10, 20)
    (said,) = gaps(topology)
    assert "CPUs 3-5 are in no NUMA node" in said


def test_where_there_are_no_nodes_all_is_one_and_that_is_said() -> None:
    topology = build_topology(raw([RawPU(i, i, i, (), 0) for i in range(2)]), "m", "file")
    assert topology.node_os_indices == (0,)
    assert topology.unknown_nodes == frozenset()
    (said,) = gaps(topology)
    assert "assumed to be in one" in said


def test_an_empty_folder_of_nodes_is_one_node(tmp_path: Path) -> None:
    expected = machine(2, 1, 1, 2, 1)
    write_sysfs(tmp_path, expected)
    nodes = tmp_path / "devices/system/node"
    shutil.rmtree(nodes)
    nodes.mkdir()
    found = read_sysfs(tmp_path, allowed=expected.allowed)
    assert {pu.node for pu in found.pus} == {0}
    assert found.one_node_assumed


def test_costs_outside_a_cache_are_unknown_where_a_node_is() -> None:
    pus = [RawPU(i, 0, i, (i // 2,), 0) for i in range(4)]
    topology = build_topology(raw(pus, [RawNode(0, frozenset({0, 1}))]), "m", "file")
    assert is_known(topology, [OsIndex(2), OsIndex(3)])  # they share a cache
    assert is_known(topology, [OsIndex(0), OsIndex(1)])
    assert not is_known(topology, [OsIndex(1), OsIndex(2)])


def test_a_node_that_is_not_allowed_has_no_memory_for_us() -> None:
    pus = [RawPU(i, i, i, (), 0) for i in range(3)]
    nodes = [RawNode(i, frozenset({i})) for i in range(3)]

    def without(allowed: set[int] | None) -> frozenset[int]:
        nodes_allowed = None if allowed is None else frozenset(allowed)
        return build_topology(
            raw(pus, nodes, allowed_nodes=nodes_allowed), "m", "file"
        ).memoryless_nodes

    assert without(None) == frozenset()
    assert without({0, 2}) == {1}
    assert without({1}) == {0, 2}


def test_nodes_without_memory_are_known_where_any_node_tells_of_memory() -> None:
    pus = [RawPU(i, i, i, (), 0) for i in range(2)]
    nodes = [RawNode(3, frozenset({0}), has_memory=False), RawNode(7, frozenset({1}))]
    assert build_topology(raw(pus, nodes), "m", "file").memoryless_nodes == {0}
    silent = [RawNode(i, frozenset({i}), has_memory=False) for i in range(2)]
    assert build_topology(raw(pus, silent), "m", "file").memoryless_nodes == frozenset()


def test_missing_distances_are_ten_and_twenty() -> None:
    pus = [RawPU(i, i, i, (), 0) for i in range(3)]
    nodes = [RawNode(5 * i, frozenset({i})) for i in range(3)]
    topology = build_topology(raw(pus, nodes, distances={(0, 5): 16}), "m", "file")
    assert topology.distances == ((10, 16, 20), (20, 10, 20), (20, 20, 10))


def test_a_machine_with_nothing_allowed_is_an_error() -> None:
    with pytest.raises(TopologyError, match="none of the 1 processing units"):
        build_topology(raw([RawPU(0, 0, 0, (), 0)], allowed=frozenset()), "m", "file")
    with pytest.raises(TopologyError, match="no processing unit"):
        build_topology(raw([]), "m", "file")
    with pytest.raises(TopologyError, match="same OS index"):
        build_topology(raw([RawPU(0, 0, 0, (), 0), RawPU(0, 0, 1, (), 0)]), "m", "file")


def shaped(shape: tuple[int, int, int, int, int], first_cpu: int = 0) -> Topology:
    """All second PUs are numbered after all first ones."""
    cores = math.prod(shape[:4])
    found = machine(*shape, number=lambda core, rank: first_cpu + rank * cores + core)
    return replace(found, node_os_indices=tuple(OsIndex(3 * n) for n in range(found.n_nodes)))


@pytest.mark.parametrize(
    ("shape", "first_cpu"),
    [((1, 1, 1, 2, 1), 0), ((4, 2, 1, 6, 1), 0), ((2, 1, 3, 4, 2), 0), ((2, 2, 2, 2, 2), 1500)],
)
def test_sysfs_gives_the_machine_back(
    tmp_path: Path, shape: tuple[int, int, int, int, int], first_cpu: int
) -> None:
    expected = shaped(shape, first_cpu)
    found = read_sysfs(
        write_sysfs(tmp_path, expected), allowed=expected.allowed, cpuinfo=tmp_path / "none"
    )
    assert found.pus == expected.pus
    assert found.node_os_indices == expected.node_os_indices
    assert found.distances == expected.distances
    assert found.allowed == expected.allowed
    assert [cache.level for cache in found.caches] == [1, 3]


def test_sysfs_leaves_offline_cpus_out(tmp_path: Path) -> None:
    write_sysfs(tmp_path, shaped((1, 1, 1, 4, 1)))
    (tmp_path / "devices/system/cpu/online").write_text("0,2-3\n")
    (tmp_path / "devices/system/cpu/cpu1/online").write_text("0\n")
    found = read_sysfs(tmp_path, allowed=frozenset({0, 1, 2}))
    assert [pu.os_index for pu in found.pus] == [0, 2, 3]
    assert found.allowed == {0, 2}


def test_a_cpu_that_is_listed_and_has_no_folder_is_another_machines(tmp_path: Path) -> None:
    write_sysfs(tmp_path, shaped((1, 1, 1, 4, 1)))
    (tmp_path / "devices/system/cpu/online").write_text("2-3,7-9\n")
    found = read_sysfs(tmp_path, allowed=frozenset({OsIndex(0), OsIndex(3)}))
    assert [pu.os_index for pu in found.pus] == [0, 2, 3]  # 0: of the mask, and not off
    assert found.allowed == {0, 3}


def test_a_folder_that_is_no_sysfs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="names no CPU"):
        read_sysfs(tmp_path)


@pytest.mark.parametrize(
    ("clocks", "kinds"),
    [
        ((2800, 2800, 3900, 3900), [0, 0, 1, 1]),
        ((3900, 3900, 2800, 1000), [2, 2, 1, 0]),
        ((5700, 5700, 5500, 5450), [0, 0, 0, 0]),  # favoured cores are no kind
    ],
)
def test_clocks_tell_kinds_of_cores_where_nothing_else_does(
    tmp_path: Path, clocks: tuple[int, ...], kinds: list[int]
) -> None:
    write_sysfs(tmp_path, shaped((1, 1, 1, 4, 1)))
    for cpu, mhz in enumerate(clocks):
        folder = tmp_path / "devices/system/cpu" / f"cpu{cpu}"
        (folder / "cpu_capacity").unlink()
        (folder / "cpufreq").mkdir()
        (folder / "cpufreq" / "cpuinfo_max_freq").write_text(f"{1000 * mhz}\n")
    found = read_sysfs(tmp_path, allowed=frozenset(map(OsIndex, range(4))))
    assert [pu.efficiency for pu in found.pus] == kinds


@pytest.mark.parametrize(
    ("capacities", "kinds"),
    [
        ((1024, 1010, 996, 983), [0, 0, 0, 0]),  # firmware of NVIDIA's Vera
        ((1024, 1000, 414, 414), [1, 1, 0, 0]),
    ],
)
def test_capacities_that_differ_by_a_few_per_cent_make_no_kinds_of_cores(
    tmp_path: Path, capacities: tuple[int, ...], kinds: list[int]
) -> None:
    write_sysfs(tmp_path, shaped((1, 1, 1, 4, 1)))
    for cpu, capacity in enumerate(capacities):
        path = tmp_path / "devices/system/cpu" / f"cpu{cpu}" / "cpu_capacity"
        path.write_text(f"{capacity}\n")
    found = read_sysfs(tmp_path, allowed=frozenset(map(OsIndex, range(4))))
    assert [pu.efficiency for pu in found.pus] == kinds
    by_hwloc = raw([RawPU(cpu, 0, cpu, (), efficiency=cpu) for cpu in range(4)])
    same = as_sysfs_has_it(by_hwloc, by_hwloc.allowed, tmp_path)
    assert [pu.efficiency for pu in same.pus] == kinds


def test_isolated_cpus_of_the_machine_are_those_of_its_sysfs(tmp_path: Path) -> None:
    write_sysfs(tmp_path, shaped((1, 1, 1, 4, 1)))
    (tmp_path / "devices/system/cpu/isolated").write_text("2-9\n")
    by_hwloc = raw([RawPU(cpu, 0, cpu, (), 0) for cpu in range(4)])
    same = build_topology(as_sysfs_has_it(by_hwloc, by_hwloc.allowed, tmp_path), "host", "host")
    found = read_sysfs(tmp_path, allowed=frozenset(map(OsIndex, range(4))))
    assert same.isolated == found.isolated == {2, 3}
    assert build_topology(by_hwloc, "m", "file").isolated == frozenset()
