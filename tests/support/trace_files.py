"""Trace files byte by byte, from the description of the format in native/trace/format.h."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

VERSION = 3
STREAM_MAGIC, INDEX_MAGIC, CHUNK_MAGIC = 0x3153545254464101, 0x3158444E49464101, 0x31434641
STREAM_HEADER, CHUNK_HEADER, INDEX_HEADER, RECORD = "<QIIII", "<IIIII", "<QIIIIQQQQ", "<IIQQQQQQII"
SIZES = tuple(map(struct.calcsize, (STREAM_HEADER, CHUNK_HEADER, INDEX_HEADER, RECORD)))


def _crc_table() -> tuple[int, ...]:
    """The table, bit by bit, from the definition of CRC-32C."""
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return tuple(table)


_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def with_crc(data: bytes) -> bytes:
    return data + struct.pack("<I", crc32c(data))


def chunk(number: int, events: int, payload: bytes) -> bytes:
    head = struct.pack(CHUNK_HEADER[:-1], CHUNK_MAGIC, number, events, len(payload))
    return head + struct.pack("<I", crc32c(head + payload)) + payload


def stream_file(number: int, parent: int, chunks: list[tuple[int, bytes]]) -> tuple[bytes, bytes]:
    """A stream's file from (events, payload) of its chunks, and its record in the index."""
    content = with_crc(struct.pack(STREAM_HEADER[:-1], STREAM_MAGIC, VERSION, number, parent))
    sums = b""
    for i, (events, payload) in enumerate(chunks):
        made = chunk(i, events, payload)
        sums += made[SIZES[1] - 4 : SIZES[1]]
        content += made
    total = sum(events for events, _ in chunks)
    record = (parent, len(chunks), total, 0, 0, 0, 0, len(content), crc32c(sums), 0)
    return content, struct.pack(RECORD, *record)


def forged(streams: list[tuple[int, list[tuple[int, bytes]]]], flags: int = 0) -> list[bytes]:
    """A trace's files, all checksums right: the index, then the streams, each (parent, chunks)."""
    made = [stream_file(i, parent, chunks) for i, (parent, chunks) in enumerate(streams)]
    index = struct.pack(INDEX_HEADER, INDEX_MAGIC, VERSION, len(streams), flags, 0, 0, 0, 0, 0)
    index += b"".join(record for _, record in made)
    return [with_crc(index), *(content for content, _ in made)]


def resealed(files: list[bytes]) -> list[bytes]:
    """The same trace with right checksums and sizes, as far as chunks can still be found in the
    damage.
    """
    streams = []
    for content in files[1:]:
        parent = struct.unpack_from("<I", content.ljust(20, b"\0"), 16)[0]
        streams.append((parent, list(_chunks_of(content))))
    flags = struct.unpack_from("<I", files[0].ljust(20, b"\0"), 16)[0] if files else 0
    return forged(streams, flags)


def _chunks_of(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = SIZES[0]
    while len(content) - at >= SIZES[1]:
        _, _, events, size, _ = struct.unpack_from(CHUNK_HEADER, content, at)
        at += SIZES[1]
        yield events, content[at : at + size]
        at += size


def write_files(folder: Path, files: list[bytes]) -> Path:
    """Write the files under their names; older files are removed."""
    for old in folder.glob("*.aft"):
        old.unlink()
    for number, content in enumerate(files):
        name = f"stream-{number - 1:04}.aft" if number else "index.aft"
        (folder / name).write_bytes(content)
    return folder
