"""Description of a trace in its folder: `meta.json`, beside the events.

The file is written last, so a folder with this file holds a whole trace. The file ends with a seal,
the SHA-256 of all its other bytes, so that a changed file is never taken for another program's
numbers.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from autofinity.checked_file import Table, WrongValueError, checked
from autofinity.model.errors import TraceError
from autofinity.trace.folder_of_traces import refuse_folder_of_traces
from autofinity.whole_file import replace_file

META_VERSION = 2
META_NAME = "meta.json"
_SEAL = b'"seal": "'
_BLANK = b"0" * 64


Count = Annotated[int, Field(ge=0, lt=1 << 63)]


@dataclass(frozen=True, slots=True)
class StreamMeta:
    """Totals of one stream (thread)."""

    parent: Count
    events: Count
    bytes: Count
    accesses: Count
    """Loads and stores."""
    instructions: Count
    roi_accesses: Count
    roi_instructions: Count


@dataclass(frozen=True, slots=True)
class SamplingMeta:
    """How a run was sampled, and how much of it is recorded."""

    windows: Count
    window_accesses: Count
    """Intended accesses of each window, of all threads together."""
    recorded_accesses: Count
    """Accesses in all windows."""
    snapshot_bytes: Count
    """Bytes of the lines that threads touched last before each window."""
    seed: Count
    """Random seed for the places of the windows."""


@dataclass(frozen=True, slots=True)
class TraceMeta:
    """A captured program, without its events."""

    path: Path
    program: str
    suite: str
    input: str
    """Name of the size, as in the manifest."""
    arguments: tuple[str, ...]
    """The whole argument vector."""
    threads: int
    roi: str
    key: str
    """Digest of everything that the capture depends on: sources, flags, runtime, input, threads."""
    digest: str
    """Digest of the events, as in `_core.trace.Trace.digest`."""
    wall_s: float
    cpu_s: float
    spins: int
    """Polls recognised as waiting, which are not in the trace."""
    instructions: str
    """Origin of the instruction counts. `counted`: those of the machine code as users run it, and
    so are the accesses; `approximated` by the blocks of code that was instrumented before it was
    vectorised; or `estimated` at 3 per access of such code."""
    host: str
    streams: tuple[StreamMeta, ...]
    addresses: str = "unknown"
    """Kind of the addresses. `steady`: the same in every run; `as they came`, where the system
    allowed neither to fix them nor to find them; `unknown` in traces without this field."""
    sampling: SamplingMeta | None = None
    """Sampling of the run; None: the whole run is recorded. Otherwise windows of it are recorded,
    and the totals of the streams are still those of the whole run."""

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
    """Read a trace folder's `meta.json`. Raises `TraceError`, which names the file and the
    offset.
    """
    path = folder / META_NAME
    try:
        content = path.read_bytes()
        _check_seal(path, content)
        document = json.loads(content)
    except OSError as error:
        refuse_folder_of_traces(folder)
        reason = f"{path}: {error.strerror}; capture it again"
        if not folder.exists():
            reason = "there is no such folder; expected one that `autofinity capture` made"
        raise TraceError(f"{folder} holds no complete trace: {reason}") from None
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise TraceError(f"damaged trace: {path}: {why}; capture it again") from None
    if not isinstance(document, dict):
        raise TraceError(f"damaged trace: {path}: it holds no object; capture it again")
    document.pop("seal", None)
    if document.pop("format", None) != META_VERSION:
        raise TraceError(
            f"{path} is of another format than {META_VERSION}; capture the program again"
        )
    try:
        read = checked(_Meta, document)
    except WrongValueError as wrong:
        raise TraceError(f"damaged trace: {path}: {wrong}; capture it again") from None
    return TraceMeta(path=folder, **{name: getattr(read, name) for name in _Meta.model_fields})


class _Meta(Table):
    """`TraceMeta` as stored in the file."""

    program: str
    suite: str
    input: str
    arguments: tuple[str, ...]
    threads: Count
    roi: str
    key: str
    digest: str
    wall_s: float
    cpu_s: float
    spins: Count
    instructions: str
    host: str
    streams: Annotated[tuple[StreamMeta, ...], Field(min_length=1)]
    addresses: str = "unknown"
    sampling: SamplingMeta | None = None


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
            f"damaged trace: {path} at offset {at}: the file has changed since it was sealed; "
            "capture the program again"
        )
