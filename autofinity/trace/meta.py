"""What a trace folder says about itself: `meta.json`, beside the events.

It is written last, so a folder that has one holds a whole trace. It ends with a seal, the SHA-256
of all its other bytes, so that no change of it passes for another program's numbers.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autofinity.model.errors import TraceError
from autofinity.whole_file import replace_file

META_VERSION = 2
META_NAME = "meta.json"
_SEAL = b'"seal": "'
_BLANK = b"0" * 64


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
class SamplingMeta:
    """How a run was sampled: what of it is recorded."""

    windows: int
    window_accesses: int
    """That each was to hold, of all threads together."""
    recorded_accesses: int
    """In all windows."""
    snapshot_bytes: int
    """Of the lines that threads touched last before each window."""
    seed: int
    """Of the windows' places."""


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
    """`counted`: those of the machine code as users run it, and so are the accesses; `approximated`
    by the blocks of code that was instrumented before it was vectorised; or `estimated` at 3 per
    access of such code."""
    host: str
    streams: tuple[StreamMeta, ...]
    addresses: str = "unknown"
    """`steady`: the same in every run; or `as they came`, where the system allowed neither that
    they are fixed nor that they are found out; `unknown` in traces that do not tell."""
    sampling: SamplingMeta | None = None
    """None: all of the run is recorded. Otherwise windows of it are, and the totals of the streams
    are still those of the whole run."""

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
    document["seal"] = _BLANK.decode()
    content = json.dumps(document, indent=1).encode() + b"\n"
    at = _seal_at(content)
    sealed = content[:at] + _seal_of(content, at) + content[at + len(_BLANK) :]
    replace_file(folder / META_NAME, sealed)


def read_meta(folder: Path) -> TraceMeta:
    """Read a trace folder's `meta.json`. Raises `TraceError` naming the file and the offset."""
    path = folder / META_NAME
    try:
        content = path.read_bytes()
        _check_seal(path, content)
        document = json.loads(content)
        del document["seal"]
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
        sampled = document.pop("sampling", None)
        sampling = None if sampled is None else SamplingMeta(**sampled)
        meta = TraceMeta(
            path=folder, streams=streams, arguments=arguments, sampling=sampling, **document
        )
        numbers = [meta.threads, meta.spins, *(n for s in streams for n in asdict(s).values())]
        numbers += [] if sampling is None else asdict(sampling).values()
        if not all(type(n) is int and n >= 0 for n in numbers) or not streams:
            raise TypeError("a count is missing or no whole number")
    except (TypeError, KeyError, AttributeError) as error:
        raise TraceError(f"damaged trace: {path}: {error}; capture it again") from None
    return meta


def _seal_at(content: bytes) -> int:
    """Offset of the seal's digits; -1 where there are none."""
    at = content.rfind(_SEAL)
    at += len(_SEAL) if at >= 0 else 0
    return at if 0 <= at <= len(content) - len(_BLANK) else -1


def _seal_of(content: bytes, at: int) -> bytes:
    return hashlib.sha256(content[:at] + content[at + len(_BLANK) :]).hexdigest().encode()


def _check_seal(path: Path, content: bytes) -> None:
    at = _seal_at(content)
    if at < 0:
        raise TraceError(
            f"damaged trace, or one of an older autofinity: {path} at offset {len(content)}: "
            "no seal; capture the program again"
        )
    if content[at : at + len(_BLANK)] != _seal_of(content, at):
        raise TraceError(
            f"damaged trace: {path} at offset {at}: the file is not the one that was sealed; "
            "capture the program again"
        )
