"""The life of a trace folder, from the first event to the finished trace.

    .NAME.partial/  events as they come ─► checks ─► meta.json ─► NAME/

A folder with the final name is always a whole trace; an incomplete trace is removed in any event.
Two processes that make the same trace take turns.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autofinity.capture.own_folder import is_at, take
from autofinity.capture.sampling import WindowPlan
from autofinity.model.errors import CaptureError
from autofinity.new_folder import make_missing
from autofinity.trace.meta import SamplingMeta, StreamMeta, TraceMeta, write_meta


@contextmanager
def trace_folder(out: Path, name: str, program: str) -> Iterator[Path]:
    """A new folder in `out` for the events of one run; it is removed at the end unless it was kept.

    The function waits for another process that makes this trace: the caller must check again
    whether the trace exists.

    Raises `CaptureError` for any refusal of the file system.
    """
    partial = out / f".{name}.partial"
    try:
        make_missing(out)
        turn = take(partial)
        try:
            empty(partial)  # remove the files of a killed process
            yield partial
        finally:
            if is_at(turn, partial):  # a kept folder has its final name; this name may be another's
                shutil.rmtree(partial, ignore_errors=True)
            os.close(turn)
    except OSError as error:
        raise CaptureError(
            f"cannot keep the trace of {program} in {out}: {error.strerror or error}"
        ) from None


def empty(partial: Path) -> None:
    """Remove the folder's content."""
    for left in partial.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def keep(partial: Path, meta: TraceMeta) -> None:
    """Give a whole trace its description and its final name, `meta.path`."""
    shutil.rmtree(partial / "work", ignore_errors=True)
    (partial / "owner").unlink(missing_ok=True)
    write_meta(meta, partial)
    shutil.rmtree(meta.path, ignore_errors=True)
    partial.rename(meta.path)


def is_whole(partial: Path) -> bool:
    """Whether the runtime has recorded a program to its end."""
    return (partial / "index.aft").exists()


@dataclass(frozen=True, slots=True)
class Recorded:
    """Facts about a run from the runtime and this machine."""

    roi_begins: int
    of_run: dict[str, Any]
    """Fields of `TraceMeta`."""


def recorded(partial: Path) -> Recorded:
    """Read the index of a whole trace. Raises `TraceError` when it is damaged."""
    from autofinity._core import trace

    summary = trace.summary(str(partial))
    return Recorded(
        roi_begins=summary["roi_begins"],
        of_run={
            "digest": summary["digest"],
            "wall_s": summary["wall_ns"] / 1e9,
            "cpu_s": summary["cpu_ns"] / 1e9,
            "spins": summary["spins"],
            "instructions": "counted" if summary["counted_instructions"] else "estimated",
            "addresses": "steady" if summary["steady_addresses"] else "as they came",
            "host": f"{platform.machine()} {os.cpu_count()} CPUs "
            f"{platform.system()} {platform.release()}",
            "streams": tuple(StreamMeta(**stream) for stream in summary["streams"]),
        },
    )


def sampling_of(partial: Path, sampling: WindowPlan | None) -> SamplingMeta | None:
    """Description of a sampled run's recording. Raises `TraceError` when its files are damaged."""
    if sampling is None:
        return None
    from autofinity._core import trace

    windows = trace.read_sampled(str(partial)).windows
    recorded_accesses = (windows["accesses_end"] - windows["accesses_begin"]).sum()
    return SamplingMeta(
        windows=len(windows["work_begin"]),
        window_accesses=sampling.window_accesses,
        recorded_accesses=int(recorded_accesses),
        snapshot_bytes=sum(path.stat().st_size for path in partial.glob("warm-*.afw")),
        seed=sampling.seed,
    )
