"""What a trace folder says about itself: `meta.json`, beside the events.

It is written last, so a folder that has one holds a whole trace.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autofinity.model.errors import TraceError

META_VERSION = 1
META_NAME = "meta.json"


@dataclass(frozen=True, slots=True)
class StreamMeta:
    """Totals of one stream (thread)."""

    parent: int
    events: int
    bytes: int
    accesses: int
    """Loads and stores."""
    instructions: int
    roi_accesses: int
    roi_instructions: int


@dataclass(frozen=True, slots=True)
class TraceMeta:
    """A captured program, without its events."""

    path: Path
    program: str
    suite: str
    input: str
    """Size by name, as the manifest has it."""
    arguments: tuple[str, ...]
    """The whole argument vector."""
    threads: int
    roi: str
    key: str
    """Digest of everything the capture depends on: sources, flags, runtime, input, threads."""
    digest: str
    """Digest of the events; what `_core.trace.Trace.digest` says."""
    wall_s: float
    cpu_s: float
    spins: int
    """Polls recognised as waiting, which are not in the trace."""
    instructions: str
    """`counted` by blocks of the machine code, or `estimated` at 3 per access."""
    host: str
    streams: tuple[StreamMeta, ...]

    @property
    def accesses(self) -> int:
        """Loads and stores of all streams."""
        return sum(stream.accesses for stream in self.streams)

    @property
    def roi_accesses(self) -> int:
        """Loads and stores of all streams in the region of interest."""
        return sum(stream.roi_accesses for stream in self.streams)

    @property
    def bytes(self) -> int:
        """Size of the streams on disk."""
        return sum(stream.bytes for stream in self.streams)

    def workers(self) -> tuple[int, ...]:
        """The `threads` streams with most accesses in the region of interest, in creation order.

        The others (a main thread that only waits, say) are helpers.
        """
        order = sorted(range(len(self.streams)), key=lambda i: (-self.streams[i].roi_accesses, i))
        return tuple(sorted(order[: self.threads]))


def write_meta(meta: TraceMeta, folder: Path) -> None:
    """Write `meta.json` into the folder, durably and in one step."""
    document: dict[str, Any] = {"format": META_VERSION, **asdict(meta)}
    del document["path"]
    temporary = folder / (META_NAME + ".new")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / META_NAME)


def read_meta(folder: Path) -> TraceMeta:
    """Read a trace folder's `meta.json`. Raises `TraceError` naming the file."""
    path = folder / META_NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TraceError(
            f"{folder} holds no complete trace: {path}: {error.strerror}; capture it again"
        ) from None
    except (ValueError, RecursionError) as error:
        raise TraceError(f"damaged trace: {path}: {error}; capture it again") from None
    try:
        if document.pop("format") != META_VERSION:
            raise TraceError(
                f"{path} is of another format than {META_VERSION}; capture the program again"
            )
        streams = tuple(StreamMeta(**stream) for stream in document.pop("streams"))
        arguments = tuple(document.pop("arguments"))
        meta = TraceMeta(path=folder, streams=streams, arguments=arguments, **document)
        numbers = [meta.threads, meta.spins, *(n for s in streams for n in asdict(s).values())]
        if not all(type(n) is int and n >= 0 for n in numbers) or not streams:
            raise TypeError("a count is missing or no whole number")
    except (TypeError, KeyError, AttributeError) as error:
        raise TraceError(f"damaged trace: {path}: {error}; capture it again") from None
    return meta
