"""No file can crash or hang the program: recorded machines give a topology, garbage an error."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from devices_in_xml import GPU, NETWORK, OPENFABRICS, STORAGE, Hung, with_devices
from hwloc_v1_writer import as_version_1

from autofinity.affinity.hints import all_hints
from autofinity.affinity.near import nodes_near, nodes_of
from autofinity.linux.devices import device_called, xml_devices
from autofinity.linux.gaps import gaps
from autofinity.linux.topology import xml_topology
from autofinity.model.errors import TopologyError
from autofinity.model.topology import Topology

# Recorded machines of the hwloc project lie beside some checkouts, and are not ours to ship.
# MADE and SHAPES below are ours, and are tested in every clone.
RECORDED = sorted((Path(__file__).resolve().parents[2] / "../shared/topologies").glob("*.xml"))


@pytest.mark.skipif(not RECORDED, reason="no recorded machines beside this checkout")
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_machine_gives_a_topology_to_place_threads_on(path: Path) -> None:
    check_placing(xml_topology(path))


def check_placing(topology: Topology) -> None:
    """All is consistent, and every hint has cores for half of the CPUs."""
    n = topology.n_nodes
    assert all(len(row) == n for row in topology.distances)
    assert all(pu.node < n for pu in topology.pus)
    threads = (len(topology.allowed) + 1) // 2
    for match in all_hints(topology, threads):
        assert len(set(match.cpus)) == threads
        assert set(match.cpus) <= topology.allowed


def exported(tmp_path: Path, synthetic: str, devices: Sequence[Hung] = ()) -> Path:
    """An hwloc XML file of a synthetic machine."""
    from pyhwloc.topology import Topology

    path = tmp_path / "machine.xml"
    with Topology.from_synthetic(synthetic) as topology:
        text = topology.export_xml_buffer()
    path.write_text(with_devices(text, devices) if devices else text)
    return path


SERVER = (
    Hung("Package", 0, "0000:05:00.0", "0207 [15b3:1017]", "ib0", OPENFABRICS),
    Hung("Package", 0, "0000:06:00.0", "0302 [10de:20b0]"),
    Hung("Package", 1, "0000:86:00.0", "0380 [1002:740f]", "card1", GPU),
    Hung("Package", 1, "0035:04:00.0", "0200 [8086:1572]", "eth1", NETWORK),
    Hung("Package", 1, "0000:03:00.0", "0300 [1a03:2000]"),  # the screen of a service processor
)
MADE = {
    "a GPU a socket": (
        "pack:2 [numa] l3:2 core:3 pu:2",
        SERVER,
        {"ib0": [0], "gpu0": [0], "gpu1": [1], "card1": [1], "05:00.0": [0], "0035:04:00.0": [1]},
    ),
    "two nodes a socket": (
        "pack:2 numa:2 l3:1 core:2 pu:1",
        (
            Hung("Package", 1, "0000:81:00.0", "0108 [144d:a80a]", "nvme0n1", STORAGE),
            Hung("L3Cache", 1, "0000:3b:00.0", "0200 [14e4:1750]", "eth0", NETWORK),
            Hung("L3Cache", 3, "0000:c1:00.0", "0302 [10de:2330]"),
        ),
        {"nvme0n1": [2, 3], "eth0": [1], "gpu0": [3], "c1:00.0": [3]},
    ),
    "on the whole machine": (
        "pack:2 [numa] l3:1 core:2 pu:1",
        (Hung("Machine", 0, "0000:01:00.0", "0200 [8086:1572]", "eth0", NETWORK),),
        {"eth0": []},
    ),
    "without devices": ("pack:2 [numa] l3:1 core:2 pu:1", (), {}),
}
"""Machines of our own: hwloc's words, devices, logical nodes of the devices."""


def check_devices(path: Path, expected: Mapping[str, Sequence[int]]) -> None:
    """Names lead to devices on their nodes, and the hints use one of these."""
    topology, devices = xml_topology(path), xml_devices(path)
    assert bool(devices) == bool(expected)
    for called, nodes in expected.items():
        device = device_called(devices, called, path.stem)
        assert sorted(nodes_of(topology, device)) == nodes, called
        for match in all_hints(topology, 2, near=nodes_near(topology, device)):
            on = {topology.by_os_index[cpu].node for cpu in match.cpus}
            assert not nodes or on.intersection(nodes), called


@pytest.mark.parametrize("name", MADE)
def test_devices_of_a_machine_hang_on_nodes(tmp_path: Path, name: str) -> None:
    synthetic, devices, expected = MADE[name]
    check_devices(exported(tmp_path, synthetic, devices), expected)


def test_the_screen_of_a_service_processor_is_no_gpu(tmp_path: Path) -> None:
    devices = xml_devices(exported(tmp_path, "pack:2 [numa] core:2 pu:1", SERVER))
    gpus = {device.pci: device.names for device in devices if device.kind == "gpu"}
    assert gpus == {"0000:06:00.0": ("gpu0",), "0000:86:00.0": ("gpu1", "card1")}


WITH_DEVICES = {
    "xml__24em64t-2n6c2t-pci": {"gpu0": [0], "gpu1": [1], "gpu2": [1], "ib0": [0], "05:00.0": [0]},
    "xml__192em64t-24n8c2t": {"mlx4_0": [6], "sda": [1], "eth2": [4]},
    "xml__96em64t-4n4d3ca2co-pci": {"eth0": [0], "eth7": [3], "sdb": [2]},
    "linux__nvidiagpunumanodes": {"gpu0": [0], "gpu3": [1], "0035:04:00.0": [1]},
    "linux__32intel64-2p8co2t+8ve": {"ve7": [0], "enp96s0f0": [0]},
    "xml__28intel64-2p2g7c-CoDgroups.v1tov2": {"enp6s0": [0]},  # read without what crashes hwloc
    "linux__40intel64-2g2n4c+pcilocality": {"eth0": []},  # it hangs on the whole machine
    "linux__64amd64-4s2n4ca2co": {},
}
"""Logical nodes of some devices of recorded machines."""


@pytest.mark.skipif(not RECORDED, reason="no recorded machines beside this checkout")
@pytest.mark.parametrize("name", WITH_DEVICES)
def test_devices_of_a_recorded_machine_hang_on_nodes(name: str) -> None:
    check_devices(next(path for path in RECORDED if path.stem == name), WITH_DEVICES[name])


SHAPES = (
    "pack:2 [numa] l3:2 core:3 pu:2(indexes=2*12:12*1)",
    "pack:4 numa:2 l3:1 core:6 pu:1(indexes=8*6:6*1)",
    "numa:3 l2:2 core:2 pu:1",
    "pack:1 l3:1 core:5 pu:4",
)
"""Machines of our own, in hwloc's words; numbers of CPUs go from socket to socket, too."""


@pytest.mark.parametrize("shape", SHAPES)
def test_a_machine_in_a_file_gives_a_topology_to_place_threads_on(
    tmp_path: Path, shape: str
) -> None:
    check_placing(xml_topology(exported(tmp_path, shape)))


def test_an_exported_machine_is_read_back(tmp_path: Path) -> None:
    topology = xml_topology(exported(tmp_path, "pack:2 numa:2 l3:1 core:3 pu:2"))
    assert (topology.n_packages, topology.n_nodes, topology.n_llcs) == (2, 4, 4)
    assert (topology.n_cores, len(topology.pus)) == (12, 24)
    assert topology.name == "machine"
    assert topology.origin == "file"
    assert topology.caches[-1].level == 3
    assert topology.caches[-1].shared_by_cores == 3


def as_of_one_kind(topology: Topology) -> Topology:
    """Without its name, and without kinds of cores, of which version 1 knows nothing."""
    return replace(topology, name="", pus=tuple(replace(pu, efficiency=0) for pu in topology.pus))


def read_as_version_1(path: Path, tmp_path: Path) -> None:
    older = as_version_1(path.read_text())
    if older is None:
        pytest.skip("hwloc 1.x had no words for this machine")
    copy = tmp_path / "older.xml"
    copy.write_text(older)
    assert as_of_one_kind(xml_topology(copy)) == as_of_one_kind(xml_topology(path))


@pytest.mark.parametrize("shape", (*SHAPES, "pack:2 numa:2 l3:1 core:3 pu:2"))
def test_a_machine_as_hwloc_1_wrote_it_is_the_same_machine(tmp_path: Path, shape: str) -> None:
    read_as_version_1(exported(tmp_path, shape), tmp_path)


@pytest.mark.skipif(not RECORDED, reason="no recorded machines beside this checkout")
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_machine_as_hwloc_1_wrote_it_is_the_same(path: Path, tmp_path: Path) -> None:
    read_as_version_1(path, tmp_path)


def test_memory_that_may_not_be_used_is_none(tmp_path: Path) -> None:
    path = exported(tmp_path, "pack:2 numa:1 core:1 pu:1")
    text = path.read_text().replace('allowed_nodeset="0x00000003"', 'allowed_nodeset="0x00000002"')
    path.write_text(text)
    assert xml_topology(path).memoryless_nodes == {0}


def with_kinds(path: Path, *kinds: tuple[str, str]) -> Topology:
    text = "".join(f'<cpukind cpuset="{cpus}">{info}</cpukind>' for cpus, info in kinds)
    path.write_text(path.read_text().replace("</topology>", f"{text}</topology>"))
    return xml_topology(path)


def test_threads_go_to_cores_of_the_higher_clock(tmp_path: Path) -> None:
    path = exported(tmp_path, "pack:1 numa:1 l3:1 core:4 pu:1")
    slow, fast = (f'<info name="FrequencyMaxMHz" value="{mhz}"/>' for mhz in (2800, 3900))
    topology = with_kinds(path, ("0x00000003", slow), ("0x0000000c", fast))
    assert {match.cpus for match in all_hints(topology, 2)} == {(2, 3)}
    assert gaps(topology) == ()


def test_it_is_said_where_nothing_ranks_the_kinds_of_cores(tmp_path: Path) -> None:
    path = exported(tmp_path, "pack:1 numa:1 l3:1 core:4 pu:1")
    one, other = (f'<info name="Colour" value="{colour}"/>' for colour in ("red", "blue"))
    topology = with_kinds(path, ("0x00000003", one), ("0x0000000c", other))
    assert topology.kinds_unranked
    (said,) = gaps(topology)
    assert "core type, capacity and clock do not show which is faster" in said


def test_a_truncated_file_is_an_error(tmp_path: Path) -> None:
    path = exported(tmp_path, "pack:2 core:3 pu:2")
    text = path.read_text()
    for share in (3, 10, 50, 90):
        path.write_text(text[: len(text) * share // 100])
        with pytest.raises(TopologyError, match="cannot read the machine file"):
            xml_topology(path)


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE topology [<!ENTITY a "'
    + "a" * 1000
    + '">'
    + "".join(
        f'<!ENTITY {name} "{("&" + inner + ";") * 50}">'
        for inner, name in zip("abcdef", "bcdefg", strict=True)
    )
    + ']><topology version="2.0"><object type="Machine">&g;</object></topology>'
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"\x7fELF\0\0\0\0", "not XML"),
        (b"just words", "not XML"),
        (b"<html><body>no</body></html>", "hwloc"),
        (b'<?xml version="1.0"?><topology version="2.0"></topology>', "hwloc"),
        (BOMB.encode(), "hwloc"),
        (b"<" * 100_000, "hwloc"),
    ],
    ids=["empty", "blank", "binary", "text", "html", "no object", "bomb", "brackets"],
)
def test_garbage_is_an_error_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "garbage.xml"
    path.write_bytes(content)
    with pytest.raises(TopologyError, match=reason) as caught:
        xml_topology(path)
    assert str(path) in str(caught.value)


def test_what_is_no_regular_small_file_is_not_even_opened(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="directory"):
        xml_topology(tmp_path)
    with pytest.raises(TopologyError, match="No such file"):
        xml_topology(tmp_path / "none.xml")
    os.mkfifo(tmp_path / "pipe.xml")
    with pytest.raises(TopologyError, match="not a regular file"):
        xml_topology(tmp_path / "pipe.xml")
    with (tmp_path / "huge.xml").open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(TopologyError, match="104857600 bytes"):
        xml_topology(tmp_path / "huge.xml")
