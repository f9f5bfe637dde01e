"""Files that `likwid-perfctr` writes."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest
from launcher_tools import tool
from measurement_files import OWN_CPUS, THREADS, measured, text_of

from autofinity.measured.counts import MeasuredError
from autofinity.measured.likwid_csv import read_likwid_csv
from autofinity.measured.likwid_xml import read_likwid_xml

FILES = ["likwid-5.3.csv", "likwid-4.3.csv", "likwid-5.2.xml", "likwid-4.3.xml"]


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


def test_statistics_of_threads_are_neither_threads_nor_unused_events() -> None:
    for name in ("likwid-5.2.xml", "likwid-4.3.xml", "likwid-5.2-one-thread.xml"):
        found = measured(name)
        assert len(found.counts) == 9
        assert found.failed == {}
        assert found.shows == ("measured on Intel(R) Xeon(R) Platinum 8480+",)


FILTER = Path("/usr/share/likwid/filter/xml")
PRINTED = Path(__file__).parents[2] / "support/likwid_output.lua"


@pytest.mark.parametrize("groups", ["1", "2"])
@pytest.mark.parametrize("kind", ["metrics", "custom"])
@pytest.mark.parametrize("threads", [("0",), ("0", "stats"), ("0,1,56,57",), ("0,1,2,3,4,5",)])
def test_xml_by_the_installed_likwid_says_what_its_csv_says(
    tmp_path: Path, threads: tuple[str, ...], kind: str, groups: str
) -> None:
    lua = tool("lua5.3")
    if not FILTER.exists():
        pytest.skip(f"{FILTER} is not there: scripts/launcher-tools installs likwid")
    command = [lua, PRINTED, threads[0], kind, groups, *threads[1:]]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    raw = tmp_path / "likwid.xml.tmp"
    raw.write_text(text)
    subprocess.run([FILTER, raw, "perfctr"], check=True)
    xml = read_likwid_xml((tmp_path / "likwid.xml").read_text())
    csv = read_likwid_csv(text)
    assert (xml.counts, xml.failed, xml.cpus) == (csv.counts, csv.failed, csv.cpus)
    assert (len(csv.counts), len(csv.cpus)) == (9, len(threads[0].split(",")))
    assert xml.shows == csv.shows


def test_xml_of_marked_regions_which_the_filter_leaves_out_is_refused_for_csv() -> None:
    text = "<perfctr>\n<name>Intel</name>\n<cpu>Intel</cpu>\n<clock>2.4</clock>\n</perfctr>\n"
    with pytest.raises(MeasuredError, match=r"without a table of events, .* -o FILE\.csv"):
        read_likwid_xml(text)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("</event>\n", "", r"line 15: got <event>, expected likwid-perfctr's </event>"),
        ("</counter>", "</counter", r"line 9: got <counter>, expected likwid-perfctr's </event>"),
        ("<event>", "&a; <event>", r"line 7: got '&a;', expected likwid-perfctr's tags"),
        ("<event>", "<!ENTITY a 'b'>", r"line 7: got '<!ENTITY a 'b'>', expected"),
        ("<name>INSTR", "<name x='1'>INSTR", r"line 8: got '<name x='1'>INSTR_RETIRED_ANY'"),
    ],
)
def test_xml_with_anything_but_tags_of_likwid_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(MeasuredError, match=said):
        read_likwid_xml(text_of("likwid-5.2.xml").replace(old, new, 1))


def test_a_group_that_the_filter_left_open_is_read() -> None:
    found = measured("likwid-5.2-one-thread.xml")
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
    text = text_of("likwid-5.2.xml").replace("Runtime (RDTSC)", "Clock")
    assert math.isnan(read_likwid_xml(text).counts["INSTR_RETIRED_ANY"].seconds)


@pytest.mark.parametrize("cell", ["xx", "-5", "1e999", "inf", "12 34"])
def test_a_cell_that_is_no_number_is_refused_with_its_place(cell: str) -> None:
    text = text_of("likwid-5.3.csv").replace("PMC1,6000000,", f"PMC1,6000000,{cell},", 1)
    with pytest.raises(
        MeasuredError, match=r"line 12, column 4: got .*LONGEST_LAT_CACHE_MISS, exp"
    ):
        read_likwid_csv(text)
    timed = text_of("likwid-5.3.csv").replace("[s],2.000000,", f"[s],{cell},", 1)
    with pytest.raises(MeasuredError, match=r"line 32, column 2: got .*Runtime \(RDTSC\) \[s\]"):
        read_likwid_csv(timed)
    xml = text_of("likwid-5.2-one-thread.xml").replace("<hwthread0>9000000", f"<hwthread0>{cell}")
    with pytest.raises(MeasuredError, match=r"line 28: got .*LONGEST_LAT_CACHE_REFERENCE"):
        read_likwid_xml(xml)


def test_a_row_with_fewer_cells_than_the_heading_is_refused() -> None:
    text = text_of("likwid-5.3.csv").replace("PMC1,6000000,", "PMC1,", 1)
    with pytest.raises(MeasuredError, match=r"line 12: got 5 cells, expected 6 as in the heading"):
        read_likwid_csv(text)


def test_csv_that_ends_within_a_table_of_counts_is_refused() -> None:
    text = text_of("likwid-5.3.csv")
    end = text.index("TABLE,Group 1 Raw STAT")
    for cut in (cut for cut in range(1, 80) if text[end - cut - 1] != "\n"):
        with pytest.raises(MeasuredError, match=r"line 1[678]: got .*, expected "):
            read_likwid_csv(text[: end - cut])


def test_xml_that_ends_before_its_last_tag_is_refused() -> None:
    for name in ("likwid-5.2-one-thread.xml", "likwid-5.2.xml"):
        text = text_of(name).rstrip()
        for size in range(200, len(text), 7):
            with pytest.raises(MeasuredError, match="expected a whole file of likwid-perfctr"):
                read_likwid_xml(text[:size])
