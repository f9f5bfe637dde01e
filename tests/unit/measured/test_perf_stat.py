"""Output of `perf stat` for programs, of several versions."""

from __future__ import annotations

import math

import pytest
from measurement_files import THREADS, measured, text_of

from autofinity.measured.counts import MeasuredError
from autofinity.measured.perf_rows import MOST_ROWS, Row, measured_of
from autofinity.measured.perf_stat_csv import read_perf_stat_csv, separator_of
from autofinity.measured.perf_stat_json import read_perf_stat_json

HITM = "mem_load_l3_miss_retired.remote_hitm"


@pytest.mark.parametrize("name", ["perf-stat-6.1.json", "perf-stat-6.1.csv"])
def test_counts_are_of_all_threads_together_over_the_time_that_all_of_them_ran(name: str) -> None:
    found = measured(name)
    assert found.counts["instructions:u"].value == 16e9
    assert found.counts["instructions:u"].seconds == 8.0
    assert found.failed == {"node-load-misses:u": "<not supported>"}
    assert found.threads == 0, "nobody says of how many threads it is"


@pytest.mark.parametrize(
    "name", ["perf-stat-6.12-intervals.json", "perf-stat-5.10-german-intervals-by-cpu.csv"]
)
def test_stretches_of_a_run_add_up_and_a_summary_does_not_count_twice(name: str) -> None:
    count = measured(name).counts[HITM]
    assert count.value == 4e6
    assert count.seconds == pytest.approx(8.0)
    assert count.running == pytest.approx(0.8)


@pytest.mark.parametrize("name", ["perf-stat-6.1-per-thread.json", "perf-stat-6.1-per-thread.csv"])
def test_of_single_threads_those_that_compute_count(name: str) -> None:
    found = measured(name)
    assert found.threads == THREADS
    assert found.counts["cycles"].value == 20e9, "without the thread that waits for the others"


def test_events_of_any_version_have_their_counts() -> None:
    old = measured("perf-stat-3.13.csv")
    assert old.counts["longest_lat_cache.miss"].value == 24e6
    assert math.isnan(old.counts["longest_lat_cache.miss"].seconds)
    by_socket = measured("perf-stat-6.1-by-socket.csv")
    assert by_socket.counts["cpu/event=0xd3,umask=0x8/"].value == 8e5


@pytest.mark.parametrize("damaged", ["nan", "inf", "-500000000", "-nan"])
def test_a_damaged_count_is_named_as_what_was_not_counted(damaged: str) -> None:
    rows = f"60,,cycles:u,2000000000,100.00,,\n{damaged},,instructions:u,2000000000,100.00,,\n"
    found = read_perf_stat_csv(rows)
    assert found.failed == {"instructions:u": damaged}
    assert set(found.counts) == {"cycles:u"}


def test_counts_in_no_time_have_no_rate_and_idle_threads_take_none() -> None:
    at_once = read_perf_stat_csv("60,,cycles:u,0,100.00,,\n").counts["cycles:u"]
    assert (at_once.value, math.isnan(at_once.seconds)) == (60.0, True)
    idle = read_perf_stat_csv(
        "CPU0,60,,cycles:u,2000000000,100.00,,\nCPU1,0,,cycles:u,0,100.00,,\n"
    ).counts["cycles:u"]
    assert (idle.value, idle.seconds) == (60.0, 2.0)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " ", ":", "@", "^"])
def test_any_single_character_parts_fields(separator: str) -> None:
    plain = text_of("perf-stat-6.1-by-socket.csv")
    assert ",," in plain
    rows = [
        f"{a}{separator}{b}"
        for line in plain.splitlines()
        for a, b in [(line.partition("cpu/")[0], line.partition("cpu/")[1:])]
        if not b[0]
    ]
    text = "\n".join(row[: -len(separator)].replace(",", separator) for row in rows)
    assert separator_of(text) == separator
    assert read_perf_stat_csv(text).counts["instructions"].value == 16e9


@pytest.mark.parametrize(
    ("line", "event", "value"),
    [
        ("12,,cycles", "cycles", 12),
        ("12,cycles,500,100.00", "cycles", 12),
        ("     1.000123456,CPU11,12,,r1444:u,500,100.00,,", "r1444:u", 12),
        ("1.500000000,S0-D0-C3,2,12,,cpu_core/cycles/,500,50.00", "cpu_core/cycles/", 12),
        ("N1,12,,cpu/event=0x44,umask=0x14/u,500,100.00", "cpu/event=0x44,umask=0x14/u", 12),
        ("a b-7,12,,cycles:upp,500,100.00", "cycles:upp", 12),
        ("summary,12,,LLC-loads,500,100.00", "LLC-loads", 12),
        ("12,,instructions,sys.slice,1.20%,500,100.00,0.5,insn per cycle", "instructions", 12),
        ("0.50,GHz,power/energy-pkg/,500,100.00", "power/energy-pkg/", 0.5),
    ],
)
def test_what_may_stand_before_a_count_and_after_an_event(
    line: str, event: str, value: float
) -> None:
    found = read_perf_stat_csv(line + "\n").counts
    assert list(found) == [event]
    assert found[event].value == value


def test_lines_that_are_no_counts_are_passed_over() -> None:
    text = text_of("perf-stat-6.1.json").replace("\n", '\nhello {"x"\n{}\n{"counter-value" : }\n')
    assert read_perf_stat_json(text).counts == measured("perf-stat-6.1.json").counts


def test_a_row_in_which_perf_writes_a_metric_as_c_does_has_its_count() -> None:
    row = '{"counter-value" : "12.0", "event" : "a:,b", "metric-value" : -nan, "x" : , "y" : inf}\n'
    assert read_perf_stat_json(row).counts["a:,b"].value == 12


@pytest.mark.parametrize("name", ["perf-stat-6.1.json", "perf-stat-6.12-intervals.json"])
def test_a_file_that_ends_within_a_row_is_refused_with_the_line(name: str) -> None:
    text = text_of(name)
    lines = text.splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if "counter-value" in line)
    whole = "".join(lines[: last + 1])
    for cut in range(2, len(lines[last])):
        with pytest.raises(MeasuredError, match=f"line {last + 1}: .*cut off or damaged"):
            read_perf_stat_json(whole[:-cut])
        if '"counter-value"' in whole[:-cut].rpartition("\n")[2]:
            with pytest.raises(MeasuredError, match=f"line {last + 1}: "):
                read_perf_stat_json(whole[:-cut] + "\n" + text)


def test_a_damaged_row_of_json_is_refused_with_the_line() -> None:
    for count in ('"xx"', '"1e999"', "-1", '"12.0" "x"'):
        row = f'# started\n{{"counter-value" : {count}, "event" : "cycles"}}\n'
        with pytest.raises(MeasuredError, match=r"line 2: got .*, expected "):
            read_perf_stat_json(row)
    with pytest.raises(MeasuredError, match="line 1: "):
        read_perf_stat_json('{"counter-value" : ' + "[" * 5000 + "\n")


@pytest.mark.parametrize("name", ["perf-stat-6.1.csv", "perf-stat-6.1-per-thread.csv"])
def test_csv_that_ends_within_a_row_is_refused_with_the_line(name: str) -> None:
    rows = text_of(name).rstrip("\n").splitlines()
    for cut in range(1, len(rows[-1])):
        if rows[-1][:cut].count(",") < rows[-1].count(",") and rows[-1][:cut].strip():
            with pytest.raises(MeasuredError, match=f"line {len(rows)}: .*cut off"):
                read_perf_stat_csv("\n".join([*rows[:-1], rows[-1][:cut]]))
    assert read_perf_stat_csv("\n".join(rows)).counts == measured(name).counts


def test_more_rows_than_any_run_has_are_refused() -> None:
    with pytest.raises(MeasuredError, match="expected fewer"):
        measured_of("perf stat -x", (Row("cycles", "1") for _ in range(MOST_ROWS + 1)))
    with pytest.raises(MeasuredError, match="more than 4096 events"):
        measured_of("perf stat -x", (Row(f"e{i}", "1") for i in range(5000)))
