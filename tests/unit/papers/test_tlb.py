"""The figures of the TLB paper: table II, and what is drawn of it."""

from __future__ import annotations

import pytest
from paper_runs import FakeRuns, drawn_of

from autofinity.evaluation.comparison_summary import FIGURES
from autofinity.papers.beside import OURS, PAPER
from autofinity.papers.registry import OF_MECHANISMS
from autofinity.papers.tlb.paper import TABLE_II
from autofinity.papers.tlb.table_2 import FIGURE


def test_the_means_of_table_ii_are_those_of_its_rows_and_all_rows_are_there() -> None:
    assert TABLE_II.keys() - FIGURES.keys() == {"mappings_changed"}
    assert len(TABLE_II) == 8
    assert TABLE_II["mappings_changed"] == pytest.approx(12 / 9)
    assert TABLE_II["dram_energy"] < TABLE_II["processor_energy"] < 1
    assert TABLE_II["time"] == pytest.approx(0.958, abs=5e-4)
    assert TABLE_II["cache_to_cache"] < TABLE_II["mpki"] < TABLE_II["l2_mpki"] < 1


def test_the_table_is_of_ratios_to_the_os_beside_the_papers() -> None:
    chart = FIGURE.drawn(FakeRuns(lambda program, mechanism: 1.0 if mechanism == "tlb" else 4.0))
    assert drawn_of(chart, OURS) == {
        "time": 0.25,
        "l2_mpki": 1.0,
        "mpki": 1.0,
        "cache_to_cache": 1.0,
        "processor_energy": 1.0,
        "dram_energy": 1.0,
        "energy_per_instruction": 1.0,
        "mappings_changed": 1,
    }
    assert drawn_of(chart, PAPER) == TABLE_II


@pytest.mark.parametrize("number", ["12a", "12b", "12c", "12d", "13a", "13b", "13c"])
def test_figures_of_the_table_have_its_numbers_of_their_quantity(number: str) -> None:
    figure = OF_MECHANISMS[f"tlb-{number}"]
    assert figure.numbers == {"tlb": TABLE_II[figure.study.quantity]}


def test_tlb_section_6_2_figure_9_has_the_papers_16_pairs() -> None:
    assert OF_MECHANISMS["tlb-9"].default_threads == 2 * 16
