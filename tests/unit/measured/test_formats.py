"""Formats of files are found from their content, and files of no format are refused with why."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from measurement_files import FILES, FOLDER, measured

from autofinity.measured.formats import LARGEST_BYTES, STDIN, read_measured
from autofinity.model.errors import MeasurementError
from autofinity.sim.events import EVENTS

FORMATS = {
    "perf-stat-*.json": "perf stat -j",
    "perf-stat-*.csv": "perf stat -x",
    "perf-script-*": "perf script",
    "perf-c2c-*": "perf c2c report",
    "likwid-*.csv": "likwid-perfctr, CSV",
    "likwid-*.xml": "likwid-perfctr, XML",
    "own.*": "a table of one's own",
}


def test_every_kept_file_has_a_known_format() -> None:
    kept = {path.name for path in FOLDER.iterdir()} - {"README.md"}
    assert kept == set(FILES)
    for pattern, form in FORMATS.items():
        found = {measured(path.name).format for path in FOLDER.glob(pattern)}
        assert found == {form}


@pytest.mark.parametrize("name", FILES)
def test_the_name_of_a_file_says_nothing(tmp_path: Path, name: str) -> None:
    copy = tmp_path / "measurements.xml.json"
    copy.write_bytes((FOLDER / name).read_bytes())
    assert repr(read_measured(copy, EVENTS).counts) == repr(measured(name).counts)


@pytest.mark.parametrize("name", FILES)
def test_a_byte_order_mark_and_carriage_returns_change_nothing(tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy"
    content = (FOLDER / name).read_bytes()
    copy.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    assert repr(read_measured(copy, EVENTS).counts) == repr(measured(name).counts)


def test_a_dash_is_standard_input() -> None:
    content = (FOLDER / "own.csv").read_bytes()
    reading, writing = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(writing, content), os.close(writing)))
    kept = os.dup(0)
    try:
        os.dup2(reading, 0)
        writer.start()
        assert read_measured(STDIN, EVENTS).counts == measured("own.csv").counts
    finally:
        os.dup2(kept, 0)
        for fd in (kept, reading):
            os.close(fd)
        writer.join()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "got nothing, expected output of `perf stat -j`"),
        (b"\n \n", "got nothing"),
        (b"hello, world\n", "got 'hello, world', expected output of"),
        (
            b"PERFILE2h\0\0\0",
            "got a recording of perf, expected what perf says of it: `perf script",
        ),
        (
            b"\n Performance counter stats for 'ls':\n\n  1,234  cycles\n",
            "got what perf stat prints for people, expected what it writes for programs",
        ),
        (
            b"+------+\n| Event |\n",
            "got a table for people, expected `likwid-perfctr",
        ),
        (
            b"   my app 31537 [000] 6.746901:    1 page-faults:u:      7f38 f(int, int) (/lib/x)\n"
            b"   my app 31537 [001] 6.746906:    1 page-faults:u:      7f3a g+0x3d (/lib/x)\n",
            "got samples of perf script without data_src, which says what answered each load; "
            "expected `perf script -F comm,tid,cpu,time,event,addr,data_src -i FILE",
        ),
        (
            b"app 1/7 63428.74: mem-loads: 7f38 f (/lib/x)\n",
            "got samples of perf script without data_src",
        ),
        (b'{"metric-value" : "1.2", "metric-unit" : "insn"}\n', "without any event"),
        (b'{"a": 1}', "got columns a, expected autofinity's names of counters"),
        (b"[1, 2]", "got JSON of another kind"),
        (b'{"instructions": 1', "got JSON that cannot be read"),
        (b"[" * 100_000, "got JSON that cannot be read"),
        (b'{"instructions": "many"}', "got instructions 'many', expected a number of 0 or more"),
        (b'{"instructions": -1}', "got instructions '-1', expected a number"),
        (b'{"instructions": NaN}', "got instructions 'nan', expected a number"),
        (b"instructions,seconds\n1e9,0\n", "got seconds '0', expected a number above 0"),
        (b"instructions,cycles\n1\n", "row 1: got 1 cells, expected 2"),
        (b"instructions,instructions\n1,2\n", "got a column twice"),
        (b"instructions,cycles\n", "got a heading alone"),
        (b"instructions,cycles\n,\n", "got no number"),
        (b"<perfctr></perfctr>", "without a table of events"),
        (b"<perfctr><group1>", "got XML without </perfctr> at its end"),
        (b"<!DOCTYPE x []><perfctr></perfctr>", "line 1: got '<!DOCTYPE x []>'"),
        (b"TABLE,Group 1 Raw,MEM,3\n", "without a table of events"),
        (b"   Trace Event Information\n  Load LLC hit : 3\n", "without Load Local HITM, Load"),
        (
            b"a 1 [000] 1.5: mem-loads: 7f00 68100142 |OP LOAD|LVL L1 hit\n",
            "got 1 samples, none of a load that left its core",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line_that_says_what_to_do(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(MeasurementError) as error:
        read_measured(path, EVENTS)
    assert said in str(error.value)
    assert str(error.value).startswith(f"{path}: ")
    assert "expected" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing_or_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="cannot be read: No such file"):
        read_measured(tmp_path / "nowhere", EVENTS)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)
    with pytest.raises(MeasurementError, match="more than 64 MiB"):
        read_measured(large, EVENTS)
