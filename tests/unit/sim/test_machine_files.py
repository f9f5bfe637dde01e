"""The forms a machine file can take: cores alike, of several classes, or listed; links or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofinity.model.errors import TopologyError
from autofinity.resources import shipped
from autofinity.sim.native import machine_model
from autofinity.sim.preset import read_preset
from autofinity.sim.spec import MachineSpec

CORE = """
[{at}l1]
size_bytes = 32768
ways = 8
latency_clocks = 4
[{at}tlb]
l1_entries = 64
l2_entries = 0
walk_clocks = 20
page_fault_ns = 500
[{at}core]
width = 4
base_ipc = 2
misses_in_flight = 10
window = 100
uops_per_instruction = 1
smt_slowdown = 1.5
"""
REST = """
[llc]
size_bytes = 1048576
ways = 16
latency = { clocks = 20, clocks_at_ghz = 1 }
inclusion = "inclusive"
[coherence]
protocol = "mesi"
clean_forwarding = true
[system]
time_slice_us = 3000
context_switch_us = 2
spin_us = 2
wake_us = 2
migration_us = 5
[pmu]
counters = 4
"""
LATENCIES = ["dram"]
LATENCIES += [f"{do}_{was}" for do in ("load", "store", "atomic") for was in ("modified", "shared")]


def core_class(name: str, ghz: float, cores: int, smt: int) -> str:
    keys = f'name = "{name}"\nghz = {ghz}\ncores_per_llc = {cores}\npus_per_core = {smt}\n'
    return "[[core_class]]\n" + keys + CORE.format(at="core_class.")


def latency(count: int, extra: str = "") -> str:
    values = list(range(50, 50 + 50 * count, 50))
    return f"[latency]\nclocks_at_ghz = 1\natomic_hit = 5\n{extra}\n" + "".join(
        f"{key} = {values}\n" for key in LATENCIES
    )


def bandwidth(links: str, memory: str = "10") -> str:
    return f"[bandwidth]\nmemory_gbs = {memory}\nfabric_gbs = 0\n{links}\n"


def machine(tmp_path: Path, *parts: str, root: str = "") -> MachineSpec:
    path = tmp_path / "machine.toml"
    path.write_text('name = "mine"\nmodel = "of no one"\n' + root + "".join(parts) + REST)
    return read_preset(path)


ALIKE = "ghz = 2.0\n" + CORE.format(at="")
FOUR_NODES = """[topology]
packages = 4
nodes_per_package = 1
llcs_per_node = 1
cores_per_llc = 1
pus_per_core = 1
distances = [[10, 16, 16, 22], [16, 10, 22, 16], [16, 22, 10, 16], [22, 16, 16, 10]]
"""


def test_hybrid_machines_have_cores_of_several_classes_in_each_llc_domain(tmp_path: Path) -> None:
    spec = machine(
        tmp_path,
        core_class("P", 4.0, 2, 2),
        core_class("E", 2.0, 2, 1),
        "[topology]\npackages = 1\nnodes_per_package = 1\nllcs_per_node = 2\ndistances = [[10]]\n",
        latency(3),
        bandwidth("link_gbs = [0, 0, 0]"),
    )
    assert [kind.name for kind in spec.core_classes] == ["P", "E"]
    assert [kind.l1.latency_ns for kind in spec.core_classes] == [1.0, 2.0]
    assert spec.class_of_core == (0, 0, 1, 1) * 2
    assert [(pu.os_index, pu.core, pu.efficiency) for pu in spec.topology.pus[:6]] == [
        (0, 0, 1),
        (1, 0, 1),
        (2, 1, 1),
        (3, 1, 1),
        (4, 2, 0),
        (5, 3, 0),
    ]
    assert spec.llc_distance == ((0, 1), (1, 0))
    machine_model(spec)


def test_without_an_l2_the_shared_cache_is_the_second_level(tmp_path: Path) -> None:
    spec = machine(tmp_path, ALIKE, FOUR_NODES, latency(3), bandwidth("link_gbs = [0, 0, 5]"))
    assert spec.l2 is None
    assert [cache.level for cache in spec.topology.caches] == [1, 2]
    machine_model(spec)


L2_OF_TWO = """
[core_class.l2]
size_bytes = 262144
ways = 8
latency_clocks = 12
inclusion = "{inclusion}"
cores = 2
"""
FIVE_CORES_TWICE = (
    "[topology]\npackages = 1\nnodes_per_package = 1\nllcs_per_node = 2\ndistances = [[10]]\n",
    latency(3),
    bandwidth("link_gbs = [0, 0, 0]"),
)


def test_cores_of_a_class_share_an_l2_in_order_within_their_llc_domain(tmp_path: Path) -> None:
    spec = machine(
        tmp_path,
        core_class("P", 4.0, 2, 2),
        core_class("E", 2.0, 3, 1) + L2_OF_TWO.format(inclusion="inclusive"),
        *FIVE_CORES_TWICE,
    )
    assert spec.l2_domains == (0, 1, 2, 2, 3, 4, 5, 6, 6, 7)
    machine_model(spec)


def test_an_l2_that_cores_share_is_not_exclusive_of_their_l1s(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match=r"l2\.inclusion: got an exclusive L2 of 2 cores"):
        machine(
            tmp_path,
            core_class("E", 2.0, 2, 1) + L2_OF_TWO.format(inclusion="exclusive"),
            *FIVE_CORES_TWICE,
        )


def test_a_machine_can_list_its_pus(tmp_path: Path) -> None:
    spec = machine(
        tmp_path,
        ALIKE,
        "[topology]\npus = [[7, 0, 0, 0, 0], [9, 0, 0, 0, 0], [8, 1, 1, 1, 1]]\n"
        "memoryless_nodes = [1]\ndistances = [[10, 20, 30], [20, 10, 30], [30, 30, 10]]\n",
        latency(4, "further_from = [30]"),
        bandwidth("link_gbs = [0, 0, 5, 5]", "[10, 0, 20]"),
        root="page_bytes = 16384\n",
    )
    assert [(pu.os_index, pu.smt_rank) for pu in spec.topology.pus] == [(7, 0), (9, 1), (8, 0)]
    assert spec.topology.n_nodes == 3
    assert spec.home_nodes == (0, 2)
    assert spec.bandwidth.memory_gbs == (10, 0, 20)
    assert spec.node_distance == ((0, 2, 3), (2, 0, 3), (3, 3, 0))
    assert spec.llc_distance == ((0, 2), (2, 0))
    assert spec.page_bytes == 16384
    machine_model(spec)


def test_hops_over_links_make_the_distance_classes(tmp_path: Path) -> None:
    chain = bandwidth("links = [[0, 1, 8], [1, 2, 9], [2, 3, 4]]")
    spec = machine(tmp_path, ALIKE, FOUR_NODES, latency(5), chain)
    assert spec.node_distance[0] == (0, 2, 3, 4)
    assert spec.bandwidth.routes[0 * 4 + 3] == (0, 2, 4)
    assert spec.latency.dram == (50, 100, 150, 200, 250)
    machine_model(spec)


def test_a_slit_threshold_wins_over_hops(tmp_path: Path) -> None:
    chain = bandwidth("links = [[0, 1, 8], [1, 2, 9], [2, 3, 4]]")
    spec = machine(tmp_path, ALIKE, FOUR_NODES, latency(4, "further_from = [22]"), chain)
    assert spec.node_distance[0] == (0, 2, 2, 3)


DIES_IN_A_ROW = (
    "[topology]\npackages = 2\nnodes_per_package = 3\nllcs_per_node = 1\ncores_per_llc = 2\n"
    "pus_per_core = 1\ndistances = [[10, 15, 17, 21, 26, 26], [15, 10, 15, 26, 26, 23], "
    "[17, 15, 10, 26, 23, 21], [21, 26, 26, 10, 15, 17], [26, 26, 23, 15, 10, 15], "
    "[26, 23, 21, 17, 15, 10]]\n"
)
ROW_OF_LINKS = bandwidth(
    "links = [[0, 1, 8], [1, 2, 8], [3, 4, 8], [4, 5, 8], [0, 3, 8], [2, 5, 8]]"
)


def test_slit_thresholds_within_a_package_tell_its_nodes_apart_but_not_its_caches(
    tmp_path: Path,
) -> None:
    keys = "further_from = [23]\nfurther_in_package = [17]"
    spec = machine(tmp_path, ALIKE, DIES_IN_A_ROW, latency(5, keys), ROW_OF_LINKS)
    assert spec.node_distance[0] == (0, 1, 2, 3, 4, 4)
    assert spec.node_distance[1] == (1, 0, 1, 4, 4, 4)
    assert spec.llc_distance[0] == (0, 1, 1, 3, 4, 4)
    machine_model(spec)


def test_hops_between_packages_come_after_the_thresholds_within(tmp_path: Path) -> None:
    keys = "further_in_package = [17]"
    spec = machine(tmp_path, ALIKE, DIES_IN_A_ROW, latency(6, keys), ROW_OF_LINKS)
    assert spec.node_distance[0] == (0, 1, 2, 3, 4, 5)
    assert spec.llc_distance[2] == (1, 1, 0, 5, 4, 3)


def test_too_few_latencies_for_the_thresholds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match=r"dram: got 3 values; .* so 5 are expected"):
        keys = "further_from = [23]\nfurther_in_package = [17]"
        machine(tmp_path, ALIKE, DIES_IN_A_ROW, latency(3, keys), ROW_OF_LINKS)


@pytest.mark.parametrize(
    ("pus", "message"),
    [
        ("[]", "expected rows of 5 numbers"),
        ("[[0, 0, 0, 0]]", r"got the row \[0, 0, 0, 0\]"),
        ("[[0, 0, 0, 0, 0], [0, 1, 0, 0, 0]]", "an OS index comes twice"),
        ("[[0, 0, 0, 0, 0], [1, 0, 1, 0, 0]]", "core 0 is in two places"),
        ("[[0, 0, 0, 0, 0], [1, 2, 0, 0, 0]]", "core numbers have gaps; expected 0 to 1"),
        ("[[0, 0, 0, 0, 3]]", "expected 4 rows of 4 whole numbers"),
    ],
)
def test_a_bad_list_of_pus_is_refused(tmp_path: Path, pus: str, message: str) -> None:
    topology = f"[topology]\npus = {pus}\ndistances = [[10]]\n"
    with pytest.raises(TopologyError, match=message):
        machine(tmp_path, ALIKE, topology, latency(3), bandwidth("link_gbs = [0, 0, 0]"))


def test_a_machine_whose_nodes_all_lack_memory_is_refused(tmp_path: Path) -> None:
    topology = FOUR_NODES + "memoryless_nodes = [0, 1, 2, 3]\n"
    with pytest.raises(TopologyError, match="expected some of the nodes 0 to 3, but not all"):
        machine(tmp_path, ALIKE, topology, latency(3), bandwidth("link_gbs = [0, 0, 0]"))


def test_hops_beyond_the_latencies_are_refused(tmp_path: Path) -> None:
    chain = bandwidth("links = [[0, 1, 8], [1, 2, 9], [2, 3, 4]]")
    with pytest.raises(TopologyError, match=r"dram: got 3 values; .* so 5 are expected"):
        machine(tmp_path, ALIKE, FOUR_NODES, latency(3), chain)


@pytest.mark.parametrize(
    ("line", "changed", "message"),
    [
        ('inclusion = "victim"', 'inclusion = "inclusive"', "by_home: got true with inclusion"),
        ('protocol = "mesi"', 'protocol = "moesi"', "by_home: got true with moesi"),
        ("llcs_per_node = 1", "llcs_per_node = 2", "by_home: .* several LLC domains"),
    ],
)
def test_lines_have_a_home_in_a_victim_llc_of_mesi_one_a_node(
    tmp_path: Path, line: str, changed: str, message: str
) -> None:
    text = shipped("data", "machines", "xeon-8480.toml").read_text()
    path = tmp_path / "machine.toml"
    path.write_text(text.replace(line, changed))
    with pytest.raises(TopologyError, match=message):
        read_preset(path)
