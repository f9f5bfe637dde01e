"""Every number of a shipped machine says where it comes from, and the numbers fit each other."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arithmetic import Numbers, calculate

from autofinity.resources import shipped
from autofinity.sim.distances import by_hops
from autofinity.sim.machine_file import BY_DISTANCE
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.preset_machine import whole_machine
from autofinity.sim.sources import (
    WELL_SOURCED,
    Sourced,
    alternatives,
    count_marks,
    share_well_sourced,
    sourced_values,
)
from autofinity.sim.spec import MachineSpec

PAPERS = ("opteron-6164he", "xeon-x7550", "xeon-e5-2650", "kmaf16-simulated", "epyc-9654")
FILES = [f"machines/{name}.toml" for name in preset_names()] + ["latencies/assumed.toml"]
FEWEST_WELL_SOURCED = 0.94
"""Share of all values of the shipped machines, as reached when this was written, rounded down."""
WIDEST = 6
"""Sources that differ by a larger factor leave a value between them an estimate."""
FARTHEST = 25
"""By how many percent a value may differ from what was read and still count as derived."""


def text_of(name: str) -> str:
    return shipped("data", "machines", f"{name}.toml").read_text()


def read(file: str) -> str:
    return shipped("data", *file.split("/")).read_text()


def head_of(text: str) -> str:
    """The comment that the file begins with, as one line."""
    return " ".join(
        line.removeprefix("#").strip() for line in text.partition("\n\n")[0].splitlines()
    )


@pytest.mark.parametrize("file", FILES)
def test_every_value_carries_the_mark_of_its_source(file: str) -> None:
    assert [each for each in sourced_values(read(file)) if each.mark is None] == []


@pytest.mark.parametrize("name", preset_names())
def test_a_value_without_its_mark_is_noticed_wherever_it_stands(name: str) -> None:
    lines = text_of(name).splitlines()
    values = [i for i, line in enumerate(lines) if re.match(r"(?!name|model|cpu)\w+ = ", line)]
    assert len(values) == count_marks(text_of(name)).total() > 50
    for i in values:
        bare = lines[i].partition("#")[0]
        assert count_marks("\n".join([*lines[:i], bare, *lines[i + 1 :]]))[""] == 1, lines[i]


def test_a_mark_is_a_word_of_its_own_and_the_first_counts() -> None:
    text = '[a]\nx = 1 # C&C-SR R: 2 (IL C)\ny = [ # D: a\n 2, # E\n]\nz = "E" # RM M\nname = "b"\n'
    assert [(each.table, each.key, each.mark) for each in sourced_values(text)] == [
        ("a", "x", "R"),
        ("a", "y", "D"),
        ("a", "z", "M"),
    ]


@pytest.mark.parametrize("file", FILES)
def test_the_file_explains_its_marks(file: str) -> None:
    text = read(file)
    assert "Sources:" in head_of(text)
    used = set(count_marks(text))
    assert [mark for mark in used if f"{mark} = " not in head_of(text)] == []


@pytest.mark.parametrize("file", FILES)
def test_what_was_read_or_measured_names_a_source_that_the_file_explains(file: str) -> None:
    text = read(file)
    for each in sourced_values(text):
        if each.mark in ("R", "M"):
            words = re.split(rf"\b{each.mark}\b", each.comment)[0].replace(",", " ").split()
            assert words, each
            assert re.search(rf"[ (,]{re.escape(words[-1])}( =|[,)])", head_of(text)), each


@pytest.mark.parametrize("file", FILES)
def test_a_value_lies_within_the_bounds_of_its_comment_and_what_was_not_read_has_some(
    file: str,
) -> None:
    for each in sourced_values(read(file)):
        found = each.bounds
        if each.mark == "E":
            assert found, each
        if found and found["most"]:
            numbers = [float(x) for x in re.findall(r"[\d.]+", each.value)]
            least, most = float(found["least"]), float(found["most"])
            assert all(least <= number <= most for number in numbers), each
            assert least < most, each
        elif found and found["other"]:
            assert found["other"] != each.value.strip('"'), each


@pytest.mark.parametrize("file", FILES)
def test_what_was_read_of_a_derived_or_measured_value_is_of_one_order(file: str) -> None:
    for each in sourced_values(read(file)):
        bounds = each.bounds
        if bounds and each.mark in WELL_SOURCED:
            if bounds["most"]:
                assert float(bounds["most"]) <= WIDEST * float(bounds["least"]), each
            else:
                assert int(bounds["share"]) <= FARTHEST, each


def test_what_has_bounds_or_was_recalled_is_tried_at_them_and_nothing_else_is() -> None:
    tried = {
        "x = 4 # E 2..8": [2, 8],
        "x = 2 # E 2..8": [8],
        "x = 2 # E 0.3..3": [0.3, 3],
        "x = 1.5 # E 1..3: half": [1.0, 3.0],
        "x = true # E or false": [False],
        'x = "mesi" # E or moesi': ["moesi"],
        "x = [10, 20] # E ±50 %": [[5, 10], [15, 30]],
        "x = [[10, 20], [20, 10]] # E ±50 %": [[[10, 10], [10, 10]], [[10, 30], [30, 10]]],
        "x = [[0, 1, 8.0]] # E ±50 %": [[[0, 1, 4.0]], [[0, 1, 12.0]]],
        "x = { clocks = 10, clocks_at_ghz = 2.0 } # C": [
            {"clocks": 8.0, "clocks_at_ghz": 2.0},
            {"clocks": 12.0, "clocks_at_ghz": 2.0},
        ],
        "x = 4 # D 2..8: between what A and B have (A, B R)": [2, 8],
        "x = 4 # UO M 3..5: A has 2..8 (A E 1..9)": [3, 5],
        "x = [4, 4] # D 2..8: between what A and B have (A, B R)": [[2, 2], [8, 8]],
        "x = [10, 20] # D ±10 %: 11 and 21 (A R)": [[9, 18], [11, 22]],
        "x = 4 # A R: E 2..8 before": [],
        "x = 4 # Conway C": [2, 8],
        'x = "mesi" # C': [],
        "x = 4 # HW R": [],
        "x = 4 # D: as said": [],
    }
    for line, expected in tried.items():
        (each,) = sourced_values(line)
        assert alternatives(each, tomllib.loads(line)["x"]) == expected, line


@pytest.mark.parametrize("name", preset_names())
def test_the_machine_is_one_at_every_bound_of_its_estimates_too(name: str) -> None:
    path = shipped("data", "machines", f"{name}.toml")
    for each in sourced_values(path.read_text()):
        document: Any = tomllib.loads(path.read_text())
        table = document
        for part in filter(None, each.table.split(".")):
            table = table[part]
            table = table[-1] if isinstance(table, list) else table  # the slowest of several kinds
        for other in alternatives(each, table.get(each.key)) if each.key in table else []:
            table[each.key] = other
            assert whole_machine(document).name == name, (each, other)


def test_the_formulas_in_the_comment_give_the_value_or_its_bounds() -> None:
    checked: Counter[int] = Counter()
    for name in preset_names():
        values = list(sourced_values(text_of(name)))
        for each in values:
            formulas = re.match(r"D(?: [\d.]+| ±\d+ %)?: `(.+?)`(?: to `(.+?)`)?", each.comment)
            if formulas:
                # Keys of the same table go before those of others.
                known = {**dict(numbers(values)), **dict(numbers(values, each.table))}
                given = [calculate(formula, known) for formula in formulas.groups() if formula]
                bounds = each.bounds
                within = int(bounds["share"]) / 100 if bounds and bounds["share"] else 0.02
                if bounds and bounds["most"]:
                    wanted = [numbers_in(bounds["least"]), numbers_in(bounds["most"])]
                else:
                    wanted = [numbers_in(each.value)]
                for formula, ends in zip(given, wanted, strict=True):
                    assert np.broadcast_to(formula, ends.shape) == pytest.approx(
                        ends, rel=within
                    ), each
                checked[len(given)] += 1
    assert checked[1] > 30
    assert checked[2] > 3


def numbers(values: list[Sourced], table: str | None = None) -> Iterator[tuple[str, Numbers]]:
    for each in values:
        if table in (None, each.table) and re.fullmatch(r"[\d.]+|\[[\d., ]+\]", each.value):
            yield each.key, numbers_in(each.value)


def numbers_in(text: str) -> Numbers:
    """One number or a list of them."""
    found = np.array([float(x) for x in re.findall(r"[\d.]+", text)])
    return found if "[" in text else found[0]


def test_few_values_of_the_shipped_machines_are_guesses() -> None:
    counts = sum((count_marks(text_of(name)) for name in preset_names()), Counter[str]())
    assert share_well_sourced(counts) > FEWEST_WELL_SOURCED


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
    """NUMA factor of the farthest node, as lmbench's table of all pairs gives it."""
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


def test_a_modified_line_of_the_tlb_papers_machine_goes_by_way_of_the_next_level() -> None:
    """Simics' caches write it back before they fetch it again (gc-specialize.c)."""
    spec = load_preset("tlb-simulated")
    l1, llc = spec.core_classes[0].l1.latency_ns, spec.llc.latency_ns
    socket, memory = 2 * llc + l1, 2 * spec.latency.dram[0] + llc
    assert spec.latency.load_modified == pytest.approx((socket, socket, memory))
    assert spec.latency.store_modified == spec.latency.load_modified


def test_both_modes_of_the_epyc_are_the_same_silicon() -> None:
    four, one = load_preset("epyc-9654"), load_preset("epyc-9654-nps1")
    assert four.core_classes == one.core_classes
    assert four.llc == one.llc
    assert sum(four.bandwidth.memory_gbs) == sum(one.bandwidth.memory_gbs)
    across = [x.gbs for x in four.bandwidth.links if (x.a_node < 4) != (x.b_node < 4)]
    assert sum(across) == one.bandwidth.links[0].gbs
    near = [four.latency.dram[four.node_distance[0][node]] for node in range(4)]
    assert sum(near) / 4 == pytest.approx(one.latency.dram[0], rel=0.005)


def test_dies_of_the_xeon_6_stand_in_a_row_as_their_slit_shows() -> None:
    spec = load_preset("xeon-6972p")
    passed = [len(route) for route in spec.bandwidth.routes]
    slit = [each for row in spec.topology.distances for each in row]
    at_distance = {
        value: {hops for hops, far in zip(passed, slit, strict=True) if far == value}
        for value in sorted(set(slit))
    }
    assert at_distance == {10: {0}, 15: {1}, 17: {2}, 21: {1}, 23: {2}, 26: {2, 3}}
    assert spec.node_distance[0] == (0, 1, 2, 3, 4, 4)
    assert spec.llc_distance[0] == (0, 1, 1, 3, 4, 4)


def test_siblings_and_dies_of_the_7950x_are_those_of_a_genoa() -> None:
    desktop, server = load_preset("ryzen-9-7950x"), load_preset("epyc-9654-nps1")
    assert desktop.llc.size_bytes == server.llc.size_bytes
    for level in ("l1", "l2"):
        ours, theirs = getattr(desktop, level), getattr(server, level)
        assert (ours.size_bytes, ours.ways) == (theirs.size_bytes, theirs.ways)
        assert ours.latency_ns * desktop.ghz == pytest.approx(theirs.latency_ns * server.ghz)
    assert desktop.core.window == server.core.window


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
