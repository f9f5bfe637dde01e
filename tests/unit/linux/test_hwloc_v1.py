"""XML of hwloc 1.x, which libraries of today refuse."""

from __future__ import annotations

from typing import Any

import pytest

from autofinity.linux.hwloc_v1 import describe_version_1, devices_version_1, is_version_1

TWO_NODES = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc.dtd">
<topology>
 <object type="Machine" os_index="0" cpuset="0x00000003,,0x0000000f"
   online_cpuset="0x00000003,,0x00000007"
   allowed_cpuset="0x00000003,,0x00000003" allowed_nodeset="0x00000020">
  <info name="CPUModel" value="Some  CPU"/>
  <distances nbobjs="2" relative_depth="1" latency_base="10.000000">
   <latency value="1.0"/><latency value="1.6"/><latency value="2.1"/><latency value="1.0"/>
  </distances>
  <object type="NUMANode" os_index="2" cpuset="0x0000000f" nodeset="0x00000004" local_memory="4096">
   <page_type size="4096" count="1"/><page_type size="2097152" count="0"/>
   <object type="Socket" os_index="0" cpuset="0x0000000f">
    <object type="Cache" depth="2" cache_type="0" cache_size="1048576"
      cache_linesize="64" cache_associativity="16">
     <object type="Cache" depth="1" cache_type="1" cache_size="32768"
      cache_linesize="64" cache_associativity="8">
      <object type="Cache" depth="1" cache_type="2" cache_size="32768"
      cache_linesize="64" cache_associativity="2">
       <object type="Core" os_index="0">
        <object type="PU" os_index="0"/><object type="PU" os_index="1"/>
       </object>
      </object>
     </object>
     <object type="Core" os_index="1">
      <object type="PU" os_index="2"/><object type="PU" os_index="3"/>
     </object>
    </object>
   </object>
  </object>
  <object type="NUMANode" os_index="5" cpuset="0x00000003,,0x0" nodeset="0x00000020">
   <page_type size="4096" count="100"/>
   <object type="Socket" os_index="1">
    <object type="Core" os_index="7"><object type="PU" os_index="64"/></object>
    <object type="PU" os_index="65"/>
   </object>
  </object>
  <object type="Bridge"><object type="PCIDev"/></object>
 </object>
</topology>
"""


@pytest.fixture
def found() -> dict[str, Any]:
    assert is_version_1(TWO_NODES)
    return describe_version_1(TWO_NODES)


def test_pus_that_are_offline_are_left_out(found: dict[str, Any]) -> None:
    assert [pu["os_index"] for pu in found["pus"]] == [0, 1, 2, 64, 65]
    assert found["allowed"] == [0, 1, 64, 65]


def test_nodes_have_their_cpus_and_their_memory(found: dict[str, Any]) -> None:
    assert [(n["os_index"], n["cpus"], n["memory_bytes"]) for n in found["nodes"]] == [
        (2, [0, 1, 2], 4096),
        (5, [64, 65], 409600),
    ]
    assert found["allowed_nodes"] == [5]


def test_cores_packages_and_caches_of_data_are_those_around_a_pu(found: dict[str, Any]) -> None:
    first, second, third, fourth, fifth = found["pus"]
    levels = lambda pu: [found["caches"][number]["level"] for number in pu["caches"]]  # noqa: E731
    assert levels(first) == levels(second) == [1, 2]
    assert levels(third) == [2]
    assert levels(fourth) == levels(fifth) == []
    assert first["core"] == second["core"] != third["core"]
    assert first["package"] == third["package"] != fourth["package"] == fifth["package"]
    assert fifth["core"] == -1 != fourth["core"]
    assert found["caches"][first["caches"][0]] == {
        "level": 1,
        "size_bytes": 32768,
        "line_bytes": 64,
        "ways": 8,
    }


def test_distances_are_multiples_of_their_base(found: dict[str, Any]) -> None:
    assert found["distances"] == [{"nodes": [2, 5], "rows": [[10, 16], [21, 10]]}]


def test_a_machine_without_nodes_is_one(found: dict[str, Any]) -> None:
    text = '<topology><object type="Machine" local_memory="7"><object type="PU" os_index="3"/>'
    only = describe_version_1(text + "</object></topology>")
    assert only["nodes"] == [{"os_index": 0, "cpus": [3], "subtype": "", "memory_bytes": 7}]
    assert found["model"] == "Some CPU"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<topology><object", "no XML"),
        ("<topology/>", "no object"),
        ('<topology><object allowed_cpuset="0xg"/></topology>', "no set"),
        ('<topology><object allowed_cpuset="0x100000000"/></topology>', "no set"),
        ('<topology><object><object type="PU"/></object></topology>', "without an os_index"),
    ],
)
def test_what_is_none_is_an_error(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        describe_version_1(text)


@pytest.mark.parametrize("text", ['<topology version="2.0">', '<topology version="3.0">', "<svg>"])
def test_other_versions_are_left_to_hwloc(text: str) -> None:
    assert not is_version_1(text)


WITH_DEVICES = """<topology>
 <object type="Machine" os_index="0" cpuset="0x0000000f">
  <object type="NUMANode" os_index="0" cpuset="0x00000003" nodeset="0x00000001">
   <object type="Bridge" bridge_pci="0000:[00-02]">
    <object type="PCIDev" pci_busid="0000:02:00.0" pci_type="0200 [8086:10c9] [003c:003f] 01">
     <object type="OSDev" name="eth0" osdev_type="2"/>
    </object>
   </object>
  </object>
  <object type="NUMANode" os_index="1" cpuset="0x0000000c" nodeset="0x00000002"/>
  <object type="PCIDev" pci_busid="0000:03:00.0" pci_type="0300 [10de:06d2] [0000:0000] a1"/>
 </object>
</topology>"""


def test_devices_hang_on_the_object_around_their_bridges() -> None:
    function, port, gpu = devices_version_1(WITH_DEVICES)
    assert (function["name"], function["types"]) == ("", 0)
    assert (port["name"], port["types"], port["pci"]) == ("eth0", 16, "0000:02:00.0")
    for each in (function, port):
        assert (each["nodes"], each["cpus"]) == ([0], [0, 1])
        assert each["ids"] == [0x0200, 0x8086, 0x10C9]
    assert gpu["ids"] == [0x0300, 0x10DE, 0x06D2]
    assert (gpu["nodes"], gpu["cpus"]) == ([], []), "a machine of two nodes says nothing"


def test_a_file_without_devices_has_none() -> None:
    document = (
        "<topology><object type='Machine'><object type='PU' os_index='0'/></object></topology>"
    )
    assert devices_version_1(document) == []
