"""The trace on disk: what is written is read again, and what is damaged is said to be."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_files import forged, write_files

from autofinity._core import trace as core
from autofinity.model.errors import TraceError

U16 = st.integers(0, 2**16 - 1)
LINES = st.one_of(
    st.integers(0, 63).map(lambda n: 0x1000 + n),
    st.integers(0, 2**58 - 1),
    st.sampled_from([0, 2**58 - 1]),
)
ACCESS = st.tuples(
    st.just(0), LINES, st.integers(0, 20), st.integers(0, 300), st.just(0), U16, U16,
    st.sampled_from([0, 0, 0, 1, 255]),
)  # fmt: skip
OTHER = st.tuples(
    st.integers(0, 13), st.integers(0, 2**58 - 1), st.integers(0, 2**32 - 1), U16, U16, U16, U16,
    st.integers(0, 255),
)  # fmt: skip
EVENTS = st.lists(st.one_of(ACCESS, ACCESS, OTHER), max_size=60)
FIELDS = ("kind", "value", "gap", "span", "aux", "reads", "writes", "flags")


def rows(events: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(int(e[f]) for f in FIELDS) for e in events]


@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(streams=st.lists(st.tuples(EVENTS, st.integers(1, 40)), min_size=1, max_size=3))
def test_what_is_written_is_read_again(streams, tmp_path_factory) -> None:
    builder = core.TraceBuilder()
    written = []
    for events, repeats in streams:
        number = builder.stream(0)
        for event in events * repeats:
            builder.event(number, *event)
        written.append(events * repeats)
    folder = tmp_path_factory.mktemp("trace")
    builder.write(str(folder))
    trace = core.read(str(folder))
    assert trace.streams == len(written)
    for number, events in enumerate(written):
        assert rows(trace.events(number)) == events
        assert rows(builder.build().events(number)) == events


def regular(folder: Path, events: int = 20_000) -> None:
    """Two streams as a loop over three arrays makes them, the second with random accesses."""
    builder = core.TraceBuilder()
    rng = random.Random(1)
    for number in range(2):
        builder.stream(0)
        builder.thread_begin(number)
        for i in range(events // 4):
            builder.access(number, 1000 + i, 8, 0, 12, 70)
            builder.access(number, 90_000 + i, 8, 0, 3, 70)
            builder.access(number, 500_000 + i // 2, 4, 4, 3, 65)
            where = rng.randrange(1 << 22) if number else 7
            builder.access(number, 1_000_000 + where, 1, 1, 50, 1)
        builder.thread_end(number)
    builder.write(str(folder))


def test_regular_code_costs_little_and_random_lines_what_is_random_in_them(tmp_path) -> None:
    regular(tmp_path)
    sizes = [(tmp_path / f"stream-000{i}.aft").stat().st_size / 20_002 for i in range(2)]
    assert sizes[0] < 0.3
    assert sizes[1] < 1.6


def test_many_chunks_are_read_as_one_stream(tmp_path) -> None:
    builder = core.TraceBuilder()
    builder.stream(0)
    for i in range(200_000):
        builder.access(0, i * i % 1009, 1, 0, i % 7)
    builder.write(str(tmp_path))
    events = core.read(str(tmp_path)).events(0)
    i = np.arange(200_000, dtype=np.uint64)
    assert np.array_equal(events["value"], i * i % 1009)
    assert np.array_equal(events["gap"], i % 7)


def test_summary_adds_up_without_decoding(tmp_path) -> None:
    regular(tmp_path)
    trace, summary = core.read(str(tmp_path)), core.summary(str(tmp_path))
    assert sum(s["events"] for s in summary["streams"]) == trace.n_events
    assert sum(s["accesses"] for s in summary["streams"]) == trace.n_accesses
    assert summary["digest"] == trace.digest != ""


def test_same_events_have_the_same_digest_and_others_do_not(tmp_path) -> None:
    digests = []
    for name, line in (("a", 5), ("b", 5), ("c", 6)):
        folder = tmp_path / name
        folder.mkdir()
        builder = core.TraceBuilder()
        builder.stream(0)
        builder.access(0, line)
        builder.write(str(folder))
        digests.append(core.read(str(folder)).digest)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("name", ["index.aft", "stream-0000.aft", "stream-0001.aft"])
def test_a_file_cut_or_altered_anywhere_is_an_error_with_file_and_offset(tmp_path, name) -> None:
    regular(tmp_path, 400)
    whole = (tmp_path / name).read_bytes()
    altered = [
        whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1 :] for i in range(len(whole))
    ]
    for damaged in (*(whole[:size] for size in range(len(whole))), *altered, whole + b"\0"):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(TraceError, match=rf"{name} at offset \d+"):
            core.read(str(tmp_path))
    (tmp_path / name).unlink()
    with pytest.raises(TraceError, match=name):
        core.read(str(tmp_path))


def forge(folder: Path, payload: bytes, events: int) -> None:
    """A trace of one stream and one chunk whose checksums are right, whatever the payload is."""
    write_files(folder, forged([(0, [(events, payload)])]))


def varint(number: int) -> bytes:
    head = []
    while number >= 0x80:
        head.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*head, number])


NUMBERS = ("gaps", "spans", "reads", "writes", "near", "far", "other")
NAMES = ("control", *(name + place for name in NUMBERS for place in ("", "_second")), "rest")


def columns(control: bytes = b"", **others: bytes) -> bytes:
    """A payload of these columns, none of them packed."""
    raw = [{"control": control, **others}.get(name, b"") for name in NAMES]
    return b"".join(varint(len(c)) + (b"\0" + c if c else b"") for c in raw)


EMPTY = b"\0"
"""A column without bytes."""


def packed(lengths: dict[int, int], bits: bytes, n: int) -> bytes:
    """A payload whose first column is packed with these code lengths, the others empty."""
    table = bytes(lengths.get(i, 0) | lengths.get(i + 1, 0) << 4 for i in range(0, 256, 2))
    return varint(n) + b"\1" + table + varint(len(bits)) + bits + EMPTY * (len(NAMES) - 1)


def number(name: str, value: int) -> dict[str, bytes]:
    """The columns of a number of many bytes."""
    coded = varint(value)
    return {name: coded[:1], name + "_second": coded[1:2], "rest": coded[2:]}


ONE = {"gaps": b"\5", "spans": b"\0", "reads": b"\2", "writes": b"\0", "far": b"\2"}


def test_a_forged_chunk_that_decodes_is_read(tmp_path) -> None:
    forge(tmp_path, columns(b"\xb8\x01", **ONE), 3)
    assert core.read(str(tmp_path)).n_events == 3


def test_a_forged_packed_column_that_decodes_is_read(tmp_path) -> None:
    # Values 0 and 1 in codes of one bit, sixteen of them: runs of one and two accesses.
    forge(tmp_path, packed({0: 1, 1: 1}, b"\x0f\xf0", 16), 24)
    assert core.read(str(tmp_path)).n_events == 24
    # A single value.
    forge(tmp_path, packed({0: 1}, b"\x00", 5), 5)
    assert core.read(str(tmp_path)).n_events == 5


@pytest.mark.parametrize(
    ("payload", "events"),
    [
        (columns(b"\x7f"), 1),  # a longer run than there are events
        (columns(b"\x00"), 2),  # fewer events than promised
        (columns(b"\x00\x00"), 1),  # more bytes than needed
        (columns(b"\x00", far=b"\0"), 1),  # a number that nobody asks for
        (columns(b"\x81"), 1),  # reserved bits set
        (columns(b"\x8c"), 1),  # reserved shape mode
        (columns(b"\xce", other=b"\0\0"), 1),  # a kind that does not exist
        (columns(b"\xe1", other=b"\0\0"), 1),  # reserved bit of the other form
        (columns(b"\xb8", **{**ONE, **number("far", 1 << 64)}), 1),  # a number over 64 bits
        (columns(b"\xb8", **{**ONE, **number("far", 1 << 77)}), 1),  # also behind its first bytes
        (columns(b"\xb8", **{**ONE, "gaps": b"\x80"}), 1),  # a second byte that is not there
        (columns(b"\xb8", **{**ONE, "gaps": b"\x80", "gaps_second": b"\x80"}), 1),  # nor a third
        (columns(b"\xb8", **{**ONE, **number("gaps", 1 << 14), "rest": b"\x81"}), 1),  # nor its end
        (columns(b"\xb8", **ONE, gaps_second=b"\1"), 1),  # a second byte without a first
        (columns(b"\xb8", **ONE, rest=b"\1"), 1),  # bytes of no number
        (columns(b"\xb8", **{**ONE, **number("gaps", 1 << 32)}), 1),  # gap over 32 bits
        (columns(b"\xb8", **{**ONE, **number("spans", 1 << 16)}), 1),  # span over 16 bits
        (columns(b"\xb8", **{**ONE, "reads": b"\x03"}), 1),  # flags promised, not there
        (columns(b"\xb8", **{**ONE, "far": b""}), 1),  # no line
        (columns(b"\xd1", other=b"\0\0\0\0\0\0"), 1),  # the rarer fields cut off
        (b"", 1),
        (columns(b"\x00")[:-1], 1),  # a column is missing
        (columns(b"\x00") + b"\0", 1),  # or too many
        (b"\x02\x00\x00" + EMPTY * 15, 1),  # a column shorter than it says
        (b"\x01\x02\x00" + EMPTY * 15, 1),  # an unknown way of packing
        (varint(1 << 30) + b"\1" * 300, 1),  # a column larger than any
        (packed({0: 1, 1: 2}, b"\0", 1), 1),  # codes left over
        (packed({0: 1, 1: 1, 2: 1}, b"\0", 1), 1),  # more codes than there is room for
        (packed({0: 13, 1: 1}, b"\0", 1), 1),  # too long a code
        (packed({}, b"\0", 1), 1),  # no code at all
        (packed({0: 1}, b"\x02", 5), 5),  # a bit that is no code
        (packed({0: 1, 1: 1}, b"\0", 9), 9),  # bits that end too soon
        (packed({0: 1, 1: 1}, b"\0\0", 8), 8),  # bits left over
    ],
)
def test_bytes_that_code_no_event_are_an_error(tmp_path, payload, events) -> None:
    forge(tmp_path, payload, events)
    with pytest.raises(TraceError, match=r"stream-0000\.aft at offset \d+"):
        core.read(str(tmp_path))


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(
    payload=st.one_of(
        st.binary(max_size=60),
        st.builds(columns, **{name: st.binary(max_size=12) for name in NAMES}),
        st.builds(
            packed,
            st.dictionaries(st.integers(0, 255), st.integers(1, 13), max_size=5),
            st.binary(max_size=8),
            st.integers(0, 70),
        ),
    ),
    events=st.integers(0, 80),
)
def test_no_payload_whatever_crashes_the_decoder(payload, events, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("forged")
    forge(folder, payload, events)
    with contextlib.suppress(TraceError):
        assert core.read(str(folder)).n_events == events


@pytest.mark.parametrize("version", [2, 9])
def test_another_format_is_named_with_both_versions(tmp_path, version) -> None:
    forge(tmp_path, columns(b"\x00"), 1)
    data = bytearray((tmp_path / "index.aft").read_bytes())
    data[8] = version
    (tmp_path / "index.aft").write_bytes(bytes(data))
    with pytest.raises(TraceError, match=rf"format {version}.*reads 3"):
        core.read(str(tmp_path))


# Around each border between one byte and two, two and three, in every field that has it.
BORDERS = (0, 1, 63, 64, 127, 128, 8191, 8192, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, (1 << 16) - 1)


@pytest.mark.parametrize("field", FIELDS[1:])
def test_numbers_of_all_lengths_are_read_again(tmp_path, field) -> None:
    wide = {"value": 58, "gap": 32}.get(field, 8 if field == "flags" else 16)
    longer = {1 << bits for bits in range(14, wide)} | {
        (1 << bits) - 1 for bits in range(14, wide + 1)
    }
    written = []
    for number in (n for n in (*BORDERS, *sorted(longer)) if n < 1 << wide):
        for kind in (0, 5):
            event = dict.fromkeys(FIELDS, 0) | {
                "kind": kind,
                "value": 77,
                "reads": 1,
                field: number,
            }
            written += [tuple(event.values())] * 2
    builder = core.TraceBuilder()
    builder.stream(0)
    for event in written:
        builder.event(0, *event)
    builder.write(str(tmp_path))
    assert rows(core.read(str(tmp_path)).events(0)) == written


def test_events_keep_their_trace_alive_and_cannot_be_written_to() -> None:
    builder = core.TraceBuilder()
    builder.stream(0)
    builder.access(0, 77)
    events = builder.build().events(0)
    del builder
    assert int(events[0]["value"]) == 77
    with pytest.raises(ValueError, match="read-only"):
        events["value"] = 3


def test_the_builder_refuses_what_no_trace_can_hold() -> None:
    builder = core.TraceBuilder()
    with pytest.raises(ValueError, match="parent"):
        builder.stream(3)
    with pytest.raises(IndexError):
        builder.access(0, 1)
    builder.stream(0)
    with pytest.raises(ValueError, match="line"):
        builder.access(0, 1 << 58)
    with pytest.raises(ValueError, match="kind"):
        builder.event(0, 14)
