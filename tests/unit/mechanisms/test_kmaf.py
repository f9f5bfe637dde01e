"""kMAF as its two papers have it, each claim by its section."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fake_machine import TOPOLOGY
from fake_sharing import pairs

from autofinity.mapping import bipartition
from autofinity.mechanisms import kmaf14, kmaf16
from autofinity.mechanisms.mapping_time import eagermap_ns
from autofinity.mechanisms.recipe import NS_PER_S, Setting
from autofinity.mechanisms.registry import LIVE, MECHANISMS
from autofinity.mechanisms.sharing_aware import SharingAware
from autofinity.model.detection import FaultSampling
from autofinity.model.sharing import SharingMatrix
from autofinity.ports import BindThreads, Interval, SpendTime
from autofinity.workflow.compare import Asked
from autofinity.workflow.wanted import wanted_on

SETTING = Setting(TOPOLOGY, 4, clock_hz=1e9, mapping_ns=eagermap_ns)
SP_S = 348.7
"""4.01 s are 1.15 % of it (kMAF'16, table 5)."""


def looked(recipe: SharingAware, state: Any, cells: SharingMatrix) -> tuple[Any, list[Any]]:
    state, actions = recipe.step(state, Interval(0, 1000, (), sharing=cells))
    return state, list(actions)


def begun(recipe: SharingAware) -> Any:
    return recipe.begin(TOPOLOGY, TOPOLOGY.allowed, recipe.setting.threads)


@pytest.mark.parametrize("make", [kmaf14.kmaf14, kmaf16.kmaf16])
@pytest.mark.parametrize("run_ns", [4_000_000, 300_000_000, 60 * NS_PER_S])
@pytest.mark.parametrize("threads", [4, 64, 1024])
def test_kmaf14_section_3_4_and_kmaf16_table_3_map_every_100_ms_whatever_that_takes(
    make: Any, run_ns: int, threads: int
) -> None:
    recipe = make(replace(SETTING, threads=threads, paper_second_ns=run_ns // 60))
    mappings = run_ns / recipe.period_ns(begun(recipe))
    assert mappings == pytest.approx(600, rel=0.001)


def test_kmaf16_table_5_has_as_many_mappings_as_its_run_has_periods_of_100_ms() -> None:
    recipe = kmaf16.kmaf16(SETTING)
    assert SP_S * NS_PER_S / recipe.period_ns(begun(recipe)) == pytest.approx(3487, abs=1)


@pytest.mark.parametrize("shorter", [1, 10, 1000, 20_000])
def test_kmaf16_table_5_mapping_takes_0_04_percent_of_a_core_however_short_the_run(
    shorter: int,
) -> None:
    setting = replace(SETTING, threads=64, paper_second_ns=NS_PER_S // shorter)
    charged = sum(map(setting.mapping_charge_ns, range(3487)))
    assert charged == pytest.approx(130e6 / shorter, rel=0.001)
    assert charged / (SP_S * setting.paper_second_ns) == pytest.approx(0.0004, rel=0.1)


def test_a_run_as_long_as_the_papers_or_longer_is_charged_all_of_each_mapping() -> None:
    for second in (NS_PER_S, 5 * NS_PER_S):
        setting = replace(SETTING, threads=64, paper_second_ns=second)
        assert {setting.mapping_charge_ns(n) for n in range(9)} == {eagermap_ns(64)}


def test_every_mapping_is_charged_and_parts_of_a_nanosecond_add_up() -> None:
    setting = replace(SETTING, paper_second_ns=1_000_000)  # 146 ns are 0.146
    recipe = kmaf16.kmaf16(setting, pages=False)
    state, spent = begun(recipe), 0
    for _ in range(1000):
        state, actions = looked(recipe, state, pairs(4))
        spent += sum(each.duration_ns for each in actions if isinstance(each, SpendTime))
    assert spent == pytest.approx(eagermap_ns(4), abs=1)
    assert state.mappings == 1000


def test_kmaf14_section_3_4_2_a_matrix_that_faded_is_mapped_again_and_one_that_did_not_is_not() -> (
    None
):
    asked: list[SharingMatrix] = []

    def mapper(matrix: SharingMatrix, *_: Any) -> Any:
        asked.append(matrix)
        return tuple(sorted(TOPOLOGY.allowed))[:4]

    recipe = replace(kmaf14.kmaf14(SETTING, pages=False), mapper=mapper)
    state, _ = looked(recipe, begun(recipe), pairs(4, amount=9))
    for _ in range(9):
        state, _ = looked(recipe, state, pairs(4, amount=0))
    assert [max(matrix.cells[0]) for matrix in asked] == [9, 7, 6, 5, 4, 3]
    assert state.mappings == 10


def test_kmaf16_says_nothing_of_ageing_and_does_not_forget() -> None:
    recipe = kmaf16.kmaf16(SETTING, pages=False)
    state, _ = looked(recipe, begun(recipe), pairs(4, amount=8))
    assert state.matrix == pairs(4, amount=8)


def test_kmaf14_section_3_part_d_threads_stay_where_others_seats_cost_no_less() -> None:
    here, mirrored = (0, 6, 1, 7), (6, 0, 7, 1)
    seats = iter((here, mirrored, mirrored))
    recipe = replace(
        kmaf14.kmaf14(SETTING, pages=False),
        mapper=lambda *_: tuple(map(type(min(TOPOLOGY.allowed)), next(seats))),
    )
    moved = []
    state = begun(recipe)
    for matrix in (pairs(4), pairs(4), pairs(4)):
        state, actions = looked(recipe, state, matrix)
        moved.append([type(each) for each in actions].count(BindThreads))
    assert moved == [1, 0, 0]


def test_kmaf14_section_3_4_1_maps_by_scotch_where_it_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def mapped(name: str) -> Any:
        return lambda *_: name

    monkeypatch.setattr(bipartition, "scotch", mapped("scotch"))
    monkeypatch.setattr(bipartition, "bisection", mapped("bisection"))
    found = []
    for installed in (True, False):
        monkeypatch.setattr(bipartition, "is_installed", lambda installed=installed: installed)
        by: Any = bipartition.bipartition(pairs(4), TOPOLOGY, TOPOLOGY.allowed)
        found.append((by, MECHANISMS["kmaf14"].mapped_by.split(";")[0]))
    assert found == [("scotch", "SCOTCH"), ("bisection", "our own bisection")]
    assert kmaf14.kmaf14(SETTING).mapper is bipartition.bipartition
    assert {entry.name for entry in MECHANISMS.values() if entry.mapped_by} == {
        *("kmaf14", "kmaf14-threads")
    }
    assert not LIVE["kmaf"].mapped_by


@pytest.mark.parametrize(
    ("repeats", "paper_s", "faults"),
    [
        (30, 60, 20),  # section 6.4: about 2,000 % extra faults
        (20, 60, 20),
        (10, 60, 10),  # once each time that the region runs
        (4, 60, 6),  # table 3: 10 % of the pages a second
        (30, 349, 34.9),
        (1, 2, 1),
    ],
)
def test_kmaf16_section_6_4_and_table_3_how_often_a_page_faults(
    repeats: int, paper_s: float, faults: float
) -> None:
    wanted = wanted_on("opteron-6164he", programs=("lu",), sizes=("tiny",), threads=(4,))
    asked = Asked(wanted, 1, repeats, paper_s)
    assert asked.fault_share_per_s * paper_s == pytest.approx(faults)
    assert replace(asked, faults_per_page=3).fault_share_per_s * paper_s == pytest.approx(3)
    run_ns = 6_000_000
    setting = replace(
        SETTING,
        paper_second_ns=round(run_ns / paper_s),
        fault_share_per_s=asked.fault_share_per_s,
    )
    for recipe in (kmaf14.kmaf14(setting), kmaf16.kmaf16(setting)):
        (detector,) = recipe.detectors
        assert isinstance(detector, FaultSampling)
        assert detector.share_per_s * run_ns / NS_PER_S == pytest.approx(faults, rel=0.001)


def test_kmaf16_table_5_a_page_of_sp_faulted_twenty_times_more() -> None:
    assert pytest.approx(4_828_171 / 235_520, rel=0.03) == kmaf16.FAULTS_PER_PAGE


def test_kmaf14_section_3_5_1_and_table_2_what_is_kept_of_a_page() -> None:
    (detector,) = kmaf14.kmaf14(SETTING).detectors
    assert isinstance(detector, FaultSampling)
    assert (detector.block_bytes, detector.sharers, detector.counter_bits) == (1024, 2, 8)
    # Section 3.5.1 says 2 bytes a counter, but its 20 bytes an entry are those of table 2's 1 byte.
    thread_ids_bytes = 4096 // detector.block_bytes * detector.sharers * 2
    assert 4 * detector.counter_bits // 8 + thread_ids_bytes == 20
