#!/usr/bin/env python3
"""First inputs for the fuzzers: hand-made traces, and the beginnings of captured ones.

usage: PYTHONPATH=.:tests/support tests/fuzz/make_seeds.py CORPUS [TRACE-FOLDER…]

The rest of the corpus is what `make fuzz` found and `-merge=1` kept.
"""

from __future__ import annotations

import struct
import sys
import tempfile
from pathlib import Path

import sim_programs
from sampled_files import Part, sampled

from autofinity._core import trace as core

EVENTS_KEPT = 150
"""Events of each stream of a captured program."""
FIELDS = ("kind", "value", "gap", "span", "aux", "reads", "writes", "flags")
VARIANTS = (0x10, 0x21, 0x32, 0x47, 0x2A, 0x1D)
"""Machines and placements of the replay target."""


def files_of(folder: Path) -> list[bytes]:
    """The index, then the streams."""
    files = [folder / "index.aft", *sorted(folder.glob("stream-*.aft"))]
    return [file.read_bytes() for file in files]


def bundle(contents: list[bytes], variant: int) -> bytes:
    """Files as one input (bundle.hpp)."""
    return bytes([variant]) + b"".join(struct.pack("<I", len(c)) + c for c in contents)


def windows(streams: int) -> list[list[Part]]:
    """Two: one in which the last stream has not begun and one of all."""
    warm = [(90, [(4096, 3, True), (8192, 1, False)]), (40, [(4099, 2, False)])]
    cold, known = Part(), Part(warm, waits=True)
    return [[known] * (streams - 1) + [Part(all_events=False)], [known] * (streams - 1) + [cold]]


def beginning(folder: Path) -> core.Trace:
    """The first events of every stream."""
    whole = core.read(str(folder))
    builder = core.TraceBuilder()
    for stream in range(whole.streams):
        builder.stream(whole.parent(stream))
        for event in whole.events(stream)[:EVENTS_KEPT]:
            builder.event(stream, *(int(event[field]) for field in FIELDS))
    return builder.build()


def hand_made() -> dict[str, core.Trace]:
    """One trace for each way in which streams meet."""
    made = {"false-sharing": sim_programs.false_sharing(3, 40, 4)}
    locks, tokens, units, frames, marks = (core.TraceBuilder() for _ in range(5))
    for builder in (locks, tokens, units, frames, marks):
        for _ in range(3):
            builder.stream()
    for stream in range(3):
        for turn in range(4):
            locks.lock(stream, 7, gap=5)
            locks.access(stream, 4096 + turn, 1, 1)
            locks.unlock(stream, 7)
            locks.barrier(stream, 9, 3)
        tokens.post(stream, stream, gap=100 * stream)
        tokens.wait(stream, (stream + 1) % 3)
        sim_programs.write_all(tokens, stream, sim_programs.region(1)[:20])
        for unit in range(stream, 9, 3):
            units.unit_begin(stream, 1, unit)
            units.access(stream, 8192 + unit, 2, 3, 4, 900)
            units.unit_end(stream, 1, unit)
        units.barrier(stream, 3, 3)
        # Enough units for the first line to be the thread's own; thread 0's take longer.
        for unit in range(stream, 60, 3):
            frames.unit_begin(stream, 1, unit)
            frames.access(stream, 8192 + 512 * stream, 2, 3, 4, 900 if stream == 0 else 90)
            frames.access(stream, 16384 + unit // 6, 1, 1)
            frames.unit_end(stream, 1, unit)
        frames.barrier(stream, 3, 3)
        if stream == 0:
            marks.roi_begin(stream)
        sim_programs.chase(marks, stream, sim_programs.region(2)[stream::5])
        marks.heartbeat(stream, 3)
        marks.compute(stream, gap=70_000)
        if stream == 0:
            marks.roi_end(stream, 1)
    return made | {
        name: builder.build()
        for name, builder in (
            ("locks", locks), ("tokens", tokens), ("units", units), ("frames", frames),
            ("marks", marks),
        )
    }  # fmt: skip


def main() -> None:
    corpus = Path(sys.argv[1])
    traces = hand_made()
    for name in sys.argv[2:]:
        traces[Path(name).name] = beginning(Path(name))
    for target in ("read_trace", "replay_trace", "sampled_trace", "decode_chunk", "policy_file"):
        (corpus / target).mkdir(parents=True, exist_ok=True)
    for number, (name, trace) in enumerate(sorted(traces.items())):
        with tempfile.TemporaryDirectory() as scratch:
            trace.write(scratch)
            files = files_of(Path(scratch))
            variant = VARIANTS[number % len(VARIANTS)]
            whole = bundle(files, variant)
            if len(files) <= 4:  # more do not fit into a bundle
                pages = [(64, 3, 0), (128, 1, len(files) - 2), (8, 2, 0)]
                sampled_files = sampled(files, windows(len(files) - 1), pages)
                (corpus / "sampled_trace" / name).write_bytes(bundle(sampled_files, variant))
            (corpus / "read_trace" / name).write_bytes(whole)
            (corpus / "replay_trace" / name).write_bytes(whole)
            stream = (Path(scratch) / "stream-0000.aft").read_bytes()
            events = struct.unpack_from("<I", stream, 24 + 8)[0]
            (corpus / "decode_chunk" / name).write_bytes(struct.pack("<H", events) + stream[44:])
    policy = '{"format": "autofinity policy", "version": 1, "rules": [], "default": "SLP"}'
    (corpus / "policy_file" / "smallest").write_text(policy, encoding="utf-8")


if __name__ == "__main__":
    main()
