"""Files that `likwid-perfctr` writes."""

from __future__ import annotations

import math

import pytest
from measurement_files import OWN_CPUS, THREADS, measured, text_of

from autofinity.measured.likwid_csv import read_likwid_csv
from autofinity.measured.likwid_xml import read_likwid_xml

FILES = ["likwid-5.3.csv", "likwid-4.3.csv", "likwid-5.3.xml", "likwid-4.3.xml"]


@pytest.mark.parametrize("name", FILES)
def test_columns_add_up_over_the_time_of_each(name: str) -> None:
    found = measured(name)
    count = found.counts["INSTR_RETIRED_ANY"]
    assert (count.value, count.seconds) == (16e9, 8.0)
    assert (found.threads, found.cpus) == (THREADS, OWN_CPUS)


@pytest.mark.parametrize("name", ["likwid-5.3.csv", "likwid-4.3.csv"])
def test_what_no_single_core_counts_and_what_was_not_counted_are_said(name: str) -> None:
    found = measured(name)
    assert found.failed == {
        "CAS_COUNT_RD": "of no single core",
        "OFFCORE_RESPONSE_0_OPTIONS": "no count",
    }
    assert found.shows == ("measured on Intel(R) Xeon(R) Platinum 8480+",)


def test_of_regions_the_longest_counts() -> None:
    found = measured("likwid-5.3-markers.csv")
    assert found.counts["LONGEST_LAT_CACHE_REFERENCE"].value == 36e6
    assert found.shows[-1] == "of 2 regions solve, which took longest"


def test_a_group_that_the_filter_left_open_is_read() -> None:
    found = measured("likwid-5.3-one-thread.xml")
    assert (found.threads, found.cpus) == (1, (0,))
    assert found.counts["CPU_CLK_UNHALTED_CORE"].seconds == 2.0


def test_hardware_threads_that_did_next_to_nothing_do_not_count() -> None:
    idle = text_of("likwid-4.3.csv").replace("FIXC0,4000000000,", "FIXC0,5000,")
    found = read_likwid_csv(idle)
    assert found.cpus == OWN_CPUS[1:]
    assert found.counts["CPU_CLK_UNHALTED_CORE"].value == 15e9


def test_groups_that_took_turns_are_counted_each_over_its_own_time() -> None:
    first = text_of("likwid-4.3.csv")
    second = first.replace("Group 1 ", "Group 2 ").replace("2.000000e+00", "4.000000e+00")
    second = second.replace("LONGEST_LAT_CACHE_MISS", "MEM_INST_RETIRED_ALL_LOADS")
    found = read_likwid_csv(first + second)
    assert found.counts["MEM_INST_RETIRED_ALL_LOADS"].seconds == 16.0
    assert found.counts["INSTR_RETIRED_ANY"].seconds == 24.0
    assert found.counts["LONGEST_LAT_CACHE_MISS"].seconds == 8.0


def test_without_a_run_time_counts_have_none() -> None:
    text = text_of("likwid-5.3.xml").replace("Runtime (RDTSC)", "Clock")
    assert math.isnan(read_likwid_xml(text).counts["INSTR_RETIRED_ANY"].seconds)
