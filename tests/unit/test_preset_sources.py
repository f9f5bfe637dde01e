"""Every number of a shipped machine says where it comes from, and the numbers fit each other."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from autofinity.resources import shipped
from autofinity.sim.distances import by_hops
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.preset_machine import BY_DISTANCE
from autofinity.sim.spec import MachineSpec

MARK = re.compile(r"\b[RDCU]\b")
"""Read, derived, recalled, unverified."""
PAPERS = ("opteron-6164he", "xeon-x7550", "xeon-e5-2650", "kmaf16-simulated", "epyc-9654")


def unmarked(text: str) -> list[str]:
    """Keys whose value holds a number and whose first line has no mark in its comment.

    A value may go on over further lines: brackets are counted.
    """
    found = []
    key, value, comment, depth = "", "", "", 0
    for line in text.splitlines():
        code, _, remark = line.partition("#")
        if depth == 0:
            key, equals, code = code.partition("=")
            if not equals:
                continue
            value, comment = "", remark
        value += code
        depth += code.count("[") - code.count("]")
        numeric = re.search(r"\d", re.sub(r'"[^"]*"|\w+ *=', "", value)) is not None
        if depth == 0 and numeric and not MARK.search(comment):
            found.append(key.strip())
    return found


def text_of(name: str) -> str:
    return shipped("data", "machines", f"{name}.toml").read_text()


def test_what_is_assumed_of_unknown_machines_is_marked_too() -> None:
    assert unmarked(shipped("data", "latencies", "assumed.toml").read_text()) == []


@pytest.mark.parametrize("name", preset_names())
def test_every_number_carries_the_mark_of_its_source(name: str) -> None:
    assert unmarked(text_of(name)) == []


@pytest.mark.parametrize("name", preset_names())
def test_a_number_without_its_mark_is_noticed_wherever_it_stands(name: str) -> None:
    lines = text_of(name).splitlines()
    numbers = [i for i, line in enumerate(lines) if re.match(r"\w+ = [^\"#]*\d", line)]
    assert len(numbers) > 40
    for i in numbers:
        bare = lines[i].partition("#")[0]
        assert unmarked("\n".join([*lines[:i], bare, *lines[i + 1 :]])), lines[i]


@pytest.mark.parametrize("name", preset_names())
def test_the_file_explains_its_marks(name: str) -> None:
    head = text_of(name).partition("\n\n")[0]
    assert "Sources:" in head
    assert all(mark in " ".join(head.split()) for mark in ("R = ", "D = ", "C = ", "U = "))


@pytest.mark.parametrize("name", preset_names())
def test_nothing_is_nearer_than_what_is_in_between(name: str) -> None:
    spec = load_preset(name)
    for key in BY_DISTANCE:
        values = getattr(spec.latency, key)
        assert list(values) == sorted(values), key
    for kind in spec.core_classes:
        l2_ns = kind.l2.latency_ns if kind.l2 else kind.l1.latency_ns
        assert kind.l1.latency_ns <= l2_ns < spec.llc.latency_ns < spec.latency.dram[0]
        assert kind.l1.size_bytes < spec.llc.size_bytes
    assert spec.latency.load_shared[0] >= 0.99 * spec.llc.latency_ns
    assert spec.latency.atomic_modified[0] > spec.latency.atomic_hit


def numa_factor(spec: MachineSpec) -> float:
    """Of the farthest node, as lmbench's table of all pairs gives it."""
    return max(spec.latency.dram[d] for d in spec.node_distance[0]) / spec.latency.dram[0]


@pytest.mark.parametrize(
    ("name", "factor"), [("altix-450", 2.1), ("xeon-x7550", 1.5), ("opteron-6386", 2.8)]
)
def test_numa_factors_are_those_of_table_4_of_kmaf16(name: str, factor: float) -> None:
    assert numa_factor(load_preset(name)) == pytest.approx(factor, rel=0.005)


@pytest.mark.parametrize("name", ["opteron-6164he", "opteron-6386"])
def test_the_links_of_the_opterons_are_those_that_their_slit_shows(name: str) -> None:
    spec = load_preset(name)
    assert by_hops(spec.topology, spec.bandwidth.routes) == spec.node_distance
    for a, row in enumerate(spec.topology.distances):
        neighbours = {b for b, slit in enumerate(row) if slit == 16}
        joined = {
            x.a_node + x.b_node - a for x in spec.bandwidth.links if a in (x.a_node, x.b_node)
        }
        assert joined == neighbours


def test_the_ring_of_kmaf16_takes_32_clocks_a_hop_and_way() -> None:
    spec = load_preset("kmaf16-simulated")
    clocks = [round(ns * spec.ghz) for ns in spec.latency.dram]
    assert [b - a for a, b in pairwise(clocks[1:])] == [64, 64]
    assert spec.node_distance[0] == (0, 2, 3, 2)
    assert spec.l2 is None
    assert spec.llc.size_bytes == 512 << 10


def test_both_modes_of_the_epyc_are_the_same_silicon() -> None:
    four, one = load_preset("epyc-9654"), load_preset("epyc-9654-nps1")
    assert four.core_classes == one.core_classes
    assert four.llc == one.llc
    assert sum(four.bandwidth.memory_gbs) == sum(one.bandwidth.memory_gbs)
    across = [x.gbs for x in four.bandwidth.links if (x.a_node < 4) != (x.b_node < 4)]
    assert sum(across) == one.bandwidth.links[0].gbs
    near = [four.latency.dram[four.node_distance[0][node]] for node in range(4)]
    assert sum(near) / 4 == pytest.approx(one.latency.dram[0], rel=0.005)


def test_cores_of_the_hybrid_desktop_differ() -> None:
    spec = load_preset("i9-13900k")
    fast, slow = spec.core_classes
    assert (spec.class_of_core.count(0), spec.class_of_core.count(1)) == (8, 16)
    assert fast.l1.latency_ns < fast.l2.latency_ns  # type: ignore[union-attr]
    assert fast.ghz > slow.ghz
    assert slow.l2_cores == 4
    assert len(spec.topology.pus) == 32
    efficient = [pu.os_index for pu in spec.topology.pus if pu.efficiency == 0]
    assert efficient == list(range(16, 32))


def test_the_machines_of_the_issue_are_there() -> None:
    assert set(PAPERS) < set(preset_names())
    assert len(preset_names()) >= 12


def test_comments_name_no_place_of_ours() -> None:
    for name in preset_names():
        assert "/work" not in text_of(name)
        assert "/tmp" not in text_of(name)
        assert Path(name).name == name
        assert tomllib.loads(text_of(name))["name"] == name
