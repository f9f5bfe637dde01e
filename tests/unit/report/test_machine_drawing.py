"""The picture of a machine: nested as the machine is, with each thread at its place."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, fromstring

import pytest
from hostile_text import texts
from hypothesis import given
from made_up_machine import cpus, machine

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.devices import Device
from autofinity.model.topology import OsIndex, Topology
from autofinity.report.machine_drawing import WIDTH, OnMachine, machine_svg
from autofinity.report.machine_parts import packages_of
from autofinity.report.thread_colours import colours, text_on
from autofinity.sim.preset import load_preset, preset_names

SVG = "{http://www.w3.org/2000/svg}"
type Box = tuple[int, int, int, int]


def boxes(svg: Element, kind: str) -> list[Box]:
    """Left, top, right and bottom of all rectangles of a kind, without swatches of the legend."""
    found = []
    for rect in svg.iter(f"{SVG}rect"):
        if kind in rect.get("class", "").split() and rect.get("width") != "12":
            x, y, width, height = (
                int(rect.get(name, "")) for name in ("x", "y", "width", "height")
            )
            found.append((x, y, x + width, y + height))
    return found


def inside(inner: Box, outer: Box) -> bool:
    return (outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2]) and inner[
        3
    ] <= outer[3]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def said(svg: Element) -> list[str]:
    """Text of each CPU on a hover."""
    return [title.text or "" for title in svg.iter(f"{SVG}title")]


@pytest.mark.parametrize("name", preset_names())
def test_every_part_of_a_machine_is_drawn_once_inside_what_it_is_part_of(name: str) -> None:
    topology = load_preset(name).topology
    svg = fromstring(machine_svg(topology))
    sockets, nodes, llcs, pus = (boxes(svg, kind) for kind in ("socket", "node", "llc", "pu"))
    parts = packages_of(topology)
    assert len(sockets) == topology.n_packages
    assert len(nodes) == sum(len(package.nodes) for package in parts)
    assert len(llcs) == sum(len(node.domains) for package in parts for node in package.nodes)
    assert len(pus) == len(topology.pus) == len(said(svg))
    for inner, outer in ((nodes, sockets), (llcs, nodes), (pus, llcs)):
        assert all(sum(inside(box, around) for around in outer) == 1 for box in inner)
    for some in (sockets, nodes, llcs):
        assert not any(overlap(a, b) for i, a in enumerate(some) for b in some[:i])
    assert len(set(pus)) == len(pus)
    assert int(svg.get("width", "")) <= WIDTH + 16
    assert max(box[3] for box in sockets) <= int(svg.get("height", ""))


@pytest.mark.parametrize("count", [1, 40])
def test_a_device_is_drawn_in_the_node_that_it_hangs_on(count: int) -> None:
    nics = tuple(
        Device((f"eth{number}",), "network", nodes=(OsIndex(1),)) for number in range(count)
    )
    svg = fromstring(machine_svg(machine(packages=2), devices=nics))
    nodes, llcs, devices = (boxes(svg, kind) for kind in ("node", "llc", "device"))
    assert len(devices) == count
    for device in devices:
        assert [inside(device, node) for node in nodes] == [False, True]
        assert not any(overlap(device, llc) for llc in llcs)
    assert "network: eth0" in said(svg)
    assert not boxes(fromstring(machine_svg(machine(packages=2))), "device")


def test_devices_without_a_node_of_their_own_are_listed_below() -> None:
    both = Device(("gpu0", "card0"), "gpu", nodes=(OsIndex(0), OsIndex(1)))
    lost = Device((), "accelerator", pci="0000:3b:00.0")
    bridge = Device((), "storage", pci="0000:00:1f.2")  # no program drives it
    drawn = machine_svg(machine(nodes=2), devices=(both, lost, bridge))
    assert not boxes(fromstring(drawn), "device")
    assert ">node 0,1 (socket 0): gpu0</text>" in drawn
    assert ">node not known: 0000:3b:00.0</text>" in drawn
    assert "1f.2" not in drawn


def test_threads_of_a_core_are_side_by_side_in_it() -> None:
    svg = fromstring(machine_svg(machine(cores=3, smt=2)))
    cores, pus = boxes(svg, "core"), boxes(svg, "pu")
    assert [sum(inside(pu, core) for pu in pus) for core in cores] == [2, 2, 2]


def test_each_thread_is_where_it_was_placed_in_a_colour_of_its_own() -> None:
    topology = machine(packages=2, llcs=2, cores=3)
    placed = get_affinity(topology, 4, SPREAD).cpus
    drawn = machine_svg(topology, OnMachine.seated(placed))
    lines = said(fromstring(drawn))
    for thread, cpu in enumerate(placed):
        assert any(
            line.startswith(f"CPU {cpu}:") and line.endswith(f"; thread {thread}") for line in lines
        )
    assert sum("; thread" in line for line in lines) == 4
    assert len(set(re.findall(r'style="fill:(#[0-9a-f]{6});stroke:\1"', drawn))) == 4
    for thread in range(4):
        assert f">thread {thread}</text>" in drawn  # in the legend


def test_threads_that_share_a_cpu_are_all_named_there() -> None:
    topology = machine(cores=2)
    zero = OsIndex(0)
    assert "; threads 0,2" in machine_svg(topology, OnMachine.seated((zero, OsIndex(1), zero)))
    drawn = machine_svg(topology, OnMachine.masked([cpus(0, 1)] * 9))
    assert drawn.count("; threads 0-8</title>") == 2
    assert ">0-8</text>" in drawn


def test_what_may_not_be_used_and_what_a_run_was_given_stand_out_and_are_explained() -> None:
    topology = machine(cores=4)
    drawn = machine_svg(topology, OnMachine(given=cpus(1, 2)), available=cpus(0, 1, 2))
    assert drawn.count("; may not be used</title>") == 1
    assert drawn.count('class="pu given"') == 2 + 1  # with the legend's
    for meaning in ("CPU given to the run", "CPU without a thread", "CPU that may not be used"):
        assert f">{meaning}</text>" in drawn
    assert "may not be used" not in machine_svg(topology)


def test_a_node_whose_cores_share_nothing_is_one_row_of_cores() -> None:
    (package,) = packages_of(machine(llcs=4, cores=1))
    assert [[d.label for d in node.domains] for node in package.nodes] == [["private LLCs"]]


def test_a_cache_of_several_nodes_is_said_to_be_one() -> None:
    whole = machine(nodes=2, cores=2)
    pus = tuple(
        type(pu)(pu.os_index, pu.smt_rank, pu.core, 0, pu.package, pu.node) for pu in whole.pus
    )
    shared = Topology(
        whole.name, "synthetic", pus, whole.node_os_indices, whole.distances, whole.allowed
    )
    assert machine_svg(shared).count(">LLC 0 (of several nodes)</text>") == 2


def test_colours_differ_and_their_text_is_readable() -> None:
    for count in (1, 12, 13, 64):
        found = colours(count)
        assert len(set(found)) == len(found) == count
    assert (text_on("#ffffff"), text_on("#000000")) == ("#1b1f24", "#ffffff")


def test_the_same_machine_and_threads_give_the_same_bytes() -> None:
    topology = machine(packages=2)
    shown = OnMachine.seated(get_affinity(topology, 3, PACKED).cpus)
    assert machine_svg(topology, shown) == machine_svg(topology, shown)


@given(texts(0, any_code=True))
def test_no_name_is_markup(name: str) -> None:
    svg = fromstring(machine_svg(machine(cores=2), lines=[name, name]))
    assert {each.tag.removeprefix(SVG) for each in svg.iter()} == {
        *("svg", "style", "rect", "text", "title", "g")
    }
