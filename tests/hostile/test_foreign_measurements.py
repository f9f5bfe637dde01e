"""Whatever is in a file of measurements: it is read, or one line says what is wrong with it, in
bounded time and memory.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from damaged import damaged, json_of
from hostile_text import texts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from measurement_files import FILES, FOLDER, MACHINE, text_of

from autofinity.linux.event_names import EventNames
from autofinity.measured.counts import Measured, MeasuredError
from autofinity.measured.formats import read_measured
from autofinity.measured.likwid_csv import read_likwid_csv
from autofinity.measured.likwid_xml import read_likwid_xml
from autofinity.measured.own_table import read_own_csv, read_own_json
from autofinity.measured.perf_c2c import read_perf_c2c
from autofinity.measured.perf_script import read_perf_script
from autofinity.measured.perf_stat_csv import read_perf_stat_csv
from autofinity.measured.perf_stat_json import read_perf_stat_json
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.errors import AutofinityError, MeasurementError
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.sim.events import EVENTS
from autofinity.workflow.advice.advice import advice_on
from autofinity.workflow.advice.from_file import Place, place_named, seen_in_file

pytestmark = pytest.mark.any_user

FIXTURE = [HealthCheck.function_scoped_fixture]
POLICY = RulePolicy(
    ("llc_misses",),
    {"llc_misses": (1e6,)},
    (Rule((Condition("llc_misses", 1e6, float("inf")),), SPREAD),),
    PACKED,
)
READERS = (
    read_perf_stat_json,
    read_perf_stat_csv,
    read_perf_script,
    read_perf_c2c,
    read_likwid_csv,
    read_likwid_xml,
    lambda text: read_own_csv(text, EVENTS),
    lambda text: read_own_json(text, EVENTS),
)
NAMES = EventNames(place_named(MACHINE).cpu)


@pytest.fixture(scope="module")
def place() -> Place:
    return place_named(MACHINE)


def advised_or_refused(path: Path, place: Place, content: bytes) -> None:
    """Any error that is not ours fails the test, and so does a refusal of several lines."""
    path.write_bytes(content)
    try:
        seen = seen_in_file(path, place, POLICY, "of this test", 2)
    except AutofinityError as error:
        assert "\n" not in str(error)
        assert "expected" in str(error)
        assert str(error).isprintable()
        return
    for section in advice_on(seen):
        assert section.advice
        json_of(section.facts)


@settings(suppress_health_check=FIXTURE)
@given(content=st.binary(max_size=300))
def test_any_bytes(tmp_path: Path, place: Place, content: bytes) -> None:
    advised_or_refused(tmp_path / "file", place, content)


@st.composite
def cut_and_changed(draw: st.DrawFn) -> bytes:
    """A file of some tool of which parts are missing, doubled or replaced."""
    content = bytearray((FOLDER / draw(st.sampled_from(FILES))).read_bytes())
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(len(content) - 1, 0)))
        end = min(start + draw(st.integers(0, 60)), len(content))
        new = draw(
            st.binary(max_size=8) | texts(0).map(str.encode) | st.just(content[start:end] * 2)
        )
        content[start:end] = new
    return bytes(content)


@settings(suppress_health_check=FIXTURE)
@given(content=cut_and_changed())
def test_a_file_of_some_tool_that_was_damaged(tmp_path: Path, place: Place, content: bytes) -> None:
    advised_or_refused(tmp_path / "file", place, content)


@settings(suppress_health_check=FIXTURE)
@given(
    cell=texts(0) | st.sampled_from(("1e999", "-1", "nan", "9" * 400, "0", "1,5", "<not counted>")),
    name=st.sampled_from(FILES),
)
def test_any_text_where_a_number_should_be(
    tmp_path: Path, place: Place, cell: str, name: str
) -> None:
    content = text_of(name)
    for number in ("8000000000", "2.000000", "4000000", "3678.0724", "16000000000", "150", "2.0"):
        content = content.replace(number, cell, 1)
    advised_or_refused(tmp_path / "file", place, content.encode())


OWN = [{"thread": 1, "cpu": 0, "seconds": 2.0, "llc_misses": 1e6, "cycles": 1e9}]


@settings(suppress_health_check=FIXTURE)
@given(document=damaged(OWN))
def test_a_table_of_ones_own(tmp_path: Path, place: Place, document: object) -> None:
    advised_or_refused(tmp_path / "file", place, json_of(document))


@given(text=texts(0, any_code=True) | st.sampled_from([text_of(name) for name in FILES]))
def test_no_reader_falls_over_text_of_another_tool(text: str) -> None:
    for read in READERS:
        try:
            found = read(text)
        except MeasuredError:
            continue
        assert isinstance(found, Measured)


# ---- time and memory -------------------------------------------------------------------------
_MIB = 1 << 20
MOST_MEMORY_BYTES = 1500 * _MIB  # of addresses, of which Python and its libraries have a good half
READ = """
import sys
from pathlib import Path
from autofinity.measured.formats import read_measured
from autofinity.model.errors import MeasurementError
from autofinity.sim.events import EVENTS
try:
    print("read as", read_measured(Path(sys.argv[1]), EVENTS).format)
except MeasurementError as error:
    print("refused:", error)
"""
LARGE = {
    "slashes": b"a/" * 400 + b",1\n",
    "bars": b"7f 68101042 |" * 80 + b"\n",
    "braces": b'{"counter-value" ' + b"[" * 900 + b"\n",
    "one line": b"1,,cycles,",
    "zeros": bytes(100),
    "no text": b"\xff\xfe\xfd",
    "tables": b"TABLE,Region x,Group 1 Raw,M,1\n",
    "columns": b"TABLE,Group 1 Raw,M,1\nEvent,Counter," + b"HWThread 1," * 500 + b"\n",
    "deep XML": b"<perfctr>" * 9,
    "deep JSON": b"[",
    "statistics": b"Trace Event Information\n  Load LLC hit : 1\n",
    "many rows": b"1,,cycles,1,100.00\n",
}


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_file_takes_bounded_time_and_memory(tmp_path: Path, kind: str) -> None:
    path, part = tmp_path / "large", LARGE[kind]
    with path.open("wb") as file:
        file.writelines(_parts(part, 12 * _MIB))
    limit = (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES)
    done = subprocess.run(
        [sys.executable, "-c", READ, path],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_AS, limit),
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60)),
        ),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("read as ", "refused: "))
    assert done.stdout.count("\n") == 1


XML = {
    "deep": b"<perfctr>" * 9,
    "open": b"<perfctr><" * 9,
    "long text": b"<perfctr>x",
    "tables": b"<group1><rawvalues><event><name>A</name></event>",
    "columns": b"<hwthread1>1</hwthread1>",
    "bombs": b"&a;" * 99,
    "blank": b" \n",
}


@pytest.mark.parametrize("kind", XML)
def test_xml_of_the_largest_size_is_read_in_bounded_time(tmp_path: Path, kind: str) -> None:
    head, last = b"<perfctr><group1><rawvalues><event>", b"</event></perfctr>"
    path, part = tmp_path / "large.xml", XML[kind]
    path.write_bytes(head + part * (4 * _MIB // len(part) - 100) + last)
    start = time.process_time()
    try:
        read_measured(path, EVENTS)
    except MeasurementError as error:
        assert "\n" not in str(error)
        assert "MiB" not in str(error)
    assert time.process_time() - start < 30


def _parts(part: bytes, size_bytes: int) -> Iterator[bytes]:
    some = part * max(1, _MIB // len(part))
    for _ in range(size_bytes // len(some)):
        yield some


def test_names_of_events_of_any_length_are_looked_up_in_bounded_time() -> None:
    for name in (
        "r" + "f" * 100_000,
        "cpu/" + "event=1," * 5000 + "/",
        "a:" * 50_000,
        "_" * 99_999,
    ):
        assert NAMES.event(name) is None
