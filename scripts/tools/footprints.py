#!/usr/bin/env python3
"""What captured programs touch: figures of the first table of training/README.md.

    autofinity capture --threads 8 --size small -o traces
    python scripts/tools/footprints.py traces

A row for each trace in the folder: millions of loads and stores in the region of interest and
outside of it, and the distinct 64-byte lines touched in the region by the thread that touches most
(KiB) and by all (MiB). Reads a whole trace into memory: 3 GiB at size `medium`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from autofinity._core import trace as core

ACCESS, POST, AWAIT, ROI_BEGIN, ROI_END = 0, 4, 5, 8, 9
"""Kinds of events (`autofinity/native/trace/event.hpp`)."""
type Events = npt.NDArray[Any]


def main() -> None:
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("traces", type=Path, help="a folder of traces")
    print("| trace | accesses | outside | a thread, KiB | all, MiB |\n|---|---|---|---|---|")
    for meta in sorted(words.parse_args().traces.glob("*/meta.json")):
        print(row(meta.parent), flush=True)


def row(folder: Path) -> str:
    """Of one trace; its first thread marks the region of interest."""
    trace, streams = core.read(str(folder)), core.summary(str(folder))["streams"]
    first = between_marks(trace.events(0))
    begun = first["value"][first["kind"] == POST]
    lines = [distinct(first)]
    for stream in range(1, trace.streams):
        inside = from_wake(trace.events(stream), begun, streams[stream]["roi_accesses"])
        lines.append(distinct(inside))
    accesses = sum(each["roi_accesses"] for each in streams)
    outside = sum(each["accesses"] for each in streams) - accesses
    most, all_lines = max(map(len, lines)), len(np.unique(np.concatenate(lines)))
    figures = f"{accesses / 1e6:.1f} | {outside / 1e6:.1f} | {most / 16:,.0f}"
    return f"| {folder.name} | {figures} | {all_lines / 2**14:.1f} |"


def between_marks(events: Events) -> Events:
    """From the first mark of the region to the last."""
    marks = np.flatnonzero((events["kind"] == ROI_BEGIN) | (events["kind"] == ROI_END))
    return events[marks[0] : marks[-1]]


def from_wake(events: Events, begun: Events, accesses: int) -> Events:
    """As many accesses as the capture counted in the region, from where the thread first waits for
    what the first one does in it (OpenMP's threads work before the region, too).
    """
    counts = events["reads"].astype(np.int64) + events["writes"]
    done = np.cumsum(np.where(events["kind"] == ACCESS, counts, 0))
    if done[-1] == accesses:
        return events
    wake = int(np.argmax((events["kind"] == AWAIT) & np.isin(events["value"], begun)))
    return events[wake : int(np.searchsorted(done, done[wake] + accesses)) + 1]


def distinct(events: Events) -> npt.NDArray[np.uint64]:
    """Lines that are accessed."""
    found: npt.NDArray[np.uint64] = np.unique(events["value"][events["kind"] == ACCESS])
    return found


if __name__ == "__main__":
    main()
