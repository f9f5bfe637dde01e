"""Files of a sampled trace byte by byte, from the description in native/trace/sampled_format.h."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from trace_files import SIZES, with_crc

WINDOWS_MAGIC, WARM_MAGIC = 0x3157534449464101, 0x314D575449464101
PAGES_MAGIC, VERSION, SAMPLED = 0x3147504449464101, 2, 8
FILE, HEADER, WINDOW, PART = "<QII", "<QIIIIQQQQII", "<QQQQQQ", "<QQQQQQQQQII"
INTERVAL = "<16QQQQ"
EXISTS, WAITS = 1, 2


@dataclass(frozen=True)
class Part:
    """A window's part of a stream: events of its file, and lines that it touched before, each
    (stamp, [(first line, lines, written)]), newest first.
    """

    warm: Sequence[tuple[int, Sequence[tuple[int, int, bool]]]] = ()
    all_events: bool = True
    waits: bool = False


def varint(number: int) -> bytes:
    made = bytearray()
    while number >= 0x80:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def zigzag(number: int) -> bytes:
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def snapshot(warm: Sequence[tuple[int, Sequence[tuple[int, int, bool]]]]) -> bytes:
    made, before = varint(len(warm)), None
    for stamp, runs in warm:
        made += varint(stamp if before is None else before - stamp) + varint(len(runs))
        before, after = stamp, 0
        for first, lines, written in runs:
            made += zigzag(first - after) + varint(lines << 1 | written)
            after = first + lines
    return made


def pages_file(runs: Sequence[tuple[int, int, int]]) -> bytes:
    made, after = struct.pack(FILE, PAGES_MAGIC, VERSION, 0) + varint(len(runs)), 0
    for first, pages, stream in runs:
        made += zigzag(first - after) + varint(pages) + varint(stream)
        after = first + pages
    return with_crc(made)


def sampled(
    files: Sequence[bytes],
    windows: Sequence[Sequence[Part]],
    pages: Sequence[tuple[int, int, int]],
    meetings: Sequence[int] = (0,),
    intervals: int = 2,
) -> list[bytes]:
    """Make the files of a sampled trace from those of a whole one, in the order of the fuzz
    target's bundles: index, streams, snapshots, pages, windows. Every window has a part of each
    stream; `meetings` are at these amounts of work.
    """
    index, *streams = files
    flags_at = struct.calcsize("<QII")
    flags = struct.unpack_from("<I", index, flags_at)[0] | SAMPLED
    index = index[:flags_at] + struct.pack("<I", flags) + index[flags_at + 4 : -4]
    warm = [struct.pack(FILE, WARM_MAGIC, VERSION, i) for i in range(len(streams))]
    records, body = [], SIZES[2]
    for i in range(len(streams)):
        records.append(struct.unpack_from("<IIQ", index, body + i * SIZES[3])[2])
    made = b""
    for number, parts in enumerate(windows):
        lies = 100 * number, 100 * number + 50
        made += struct.pack(WINDOW, *lies, number, number, 10 * number, len(pages))
        for i, part in enumerate(parts):
            snap = snapshot(part.warm) if part.warm else b""
            at = len(warm[i])
            warm[i] += snap
            size = len(streams[i]) - SIZES[0] if part.all_events else 0
            flags = (EXISTS if snap else 0) | (WAITS if part.waits else 0)
            events = records[i] if size else 0
            crc = struct.unpack("<I", with_crc(snap)[-4:])[0]
            span = (number * 50, number * 50 + 40)
            made += struct.pack(
                PART, SIZES[0], size, events, *span, *span, at, len(snap), crc, flags
            )
    for number, work in enumerate(meetings, start=1):
        made += struct.pack(f"<QQ{len(streams)}Q", work, number, *[work] * len(streams))
    made += struct.pack(INTERVAL, *[3] * 16, 5, 900, 3) * intervals
    numbers = len(streams), len(windows), len(meetings), 1000, 50, 1, 500, intervals, 0
    whole = with_crc(struct.pack(HEADER, WINDOWS_MAGIC, VERSION, *numbers) + made)
    return [with_crc(index), *streams, *warm, pages_file(pages), whole]
