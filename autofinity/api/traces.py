"""Captured programs: every access and synchronisation event of their threads, in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from autofinity.api.arguments import count_of, names_of, path_if_any, path_of
from autofinity.foreign_text import one_line
from autofinity.model.errors import UsageError
from autofinity.reporter import SILENT, Reporter
from autofinity.trace.meta import TraceMeta, read_meta

_MOST_BARS = 32


@dataclass(frozen=True, slots=True)
class Trace:
    """A captured program, without its events. Notebooks show the accesses of its threads.

    * `path`: folder of the trace.
    * `program`: name of the program.
    * `input`: name of the size of its input.
    * `threads`: number of threads that it was run with.
    * `accesses`: number of loads and stores of all threads.
    * `sampled`: whether windows of a long run are recorded, not the whole run.
    * `inside`: internal type, which may change.

    >>> (trace,) = af.capture_traces("prodcons", "traces", threads=2, size="tiny")
    >>> trace.input, trace.sampled, trace.accesses > 0
    ('tiny', False, True)
    """

    path: Path
    program: str
    input: str
    threads: int
    accesses: int
    sampled: bool
    inside: TraceMeta = field(repr=False)

    def __str__(self) -> str:
        kept = "windows of the run" if self.sampled else "the whole run"
        named = one_line(f"{self.program} ({self.input}, {self.threads} threads)")
        return f"{named}: {self.accesses:,} loads and stores, {kept}"

    def _repr_html_(self) -> str:
        from autofinity.api.html import bars_html, lines_html

        workers = self.inside.workers()[:_MOST_BARS]
        streams = self.inside.streams
        accesses = {f"thread {i}": streams[at].roi_accesses for i, at in enumerate(workers)}
        lines = [str(self), f"in {self.path}"]
        if self.threads > _MOST_BARS:
            lines.append(f"the first {_MOST_BARS} threads:")
        bars = bars_html("loads and stores in the region of interest", accesses, "{:,}")
        return lines_html(lines) + bars


def load_trace(folder: Path | str) -> Trace:
    """The trace in a folder of `capture_traces` or `autofinity capture`.

    Raises `AutofinityError` where there is no trace or it is damaged.

    >>> (trace,) = af.capture_traces("prodcons", "traces", threads=2, size="tiny")
    >>> af.load_trace(trace.path) == trace
    True
    """
    return _trace(read_meta(path_of(folder, "folder")))


def capture_traces(
    programs: Sequence[str] | str,
    folder: Path | str,
    *,
    threads: int = 8,
    size: str = "small",
    suite: Path | str | None = None,
    reporter: Reporter = SILENT,
) -> list[Trace]:
    """Compile programs of a suite for capture and run them. Each gives a trace, stored in `folder`;
    existing traces are not made again.

    `suite` is a manifest, by default the shipped one; empty `programs` means all. Inputs that are
    too long to be recorded whole are sampled. Raises `AutofinityError` for an unknown program or
    size, and where a program cannot be built or run.

    >>> (trace,) = af.capture_traces("prodcons", "traces", threads=2, size="tiny")
    >>> trace.program, trace.threads
    ('prodcons', 2)
    """
    from autofinity.resources import shipped
    from autofinity.trace.manifest import load_suite
    from autofinity.workflow.capture import capture_traces as captured

    found = captured(
        load_suite(path_if_any(suite, "suite") or shipped("training", "suite.toml")),
        names_of(programs, "programs"),
        count_of(threads, "threads"),
        size,
        path_of(folder, "folder"),
        sample="auto",
        reporter=reporter,
    )
    return [_trace(meta) for meta in found]


def capture_program(
    program: Sequence[str] | str,
    folder: Path | str,
    *,
    threads: int | None = None,
    roi: Literal["marks", "parallel", "whole"] = "parallel",
    reporter: Reporter = SILENT,
) -> Trace:
    """Run any program unchanged under QEMU, on the standard streams of this process, and keep its
    trace in `folder`.

    `program` is a path or a name, or a sequence of it and arguments. `threads` sets
    OMP_NUM_THREADS. `roi` is the recorded region: between `autofinity_roi_begin()` and `_end()`,
    from the first thread to the last join, or the whole run. The reporter gets a notice of an exit
    code besides 0. Raises `AutofinityError` where QEMU is missing, for a file that is no program of
    this machine with shared libraries, and where no complete trace was recorded.

    >>> trace = af.capture_program("true", "traces", roi="whole")
    >>> trace.input, trace.threads, trace.accesses > 0
    ('binary', 1, True)
    """
    from autofinity.capture.binary import BinaryRequest
    from autofinity.workflow.capture import capture_program as captured

    argv = names_of(program, "program")
    if not argv:
        raise UsageError("program: got none, expected a path or a name, and its arguments")
    if roi not in ("marks", "parallel", "whole"):
        raise UsageError(f"roi {roi!r}: expected 'marks', 'parallel' or 'whole'")
    count = None if threads is None else count_of(threads, "threads")
    request = BinaryRequest(argv, path_of(folder, "folder"), count, roi)
    return _trace(captured(request, reporter))


def folder_of(trace: Trace | Path | str) -> Path:
    """Folder of a trace, for functions of `workflow` that take folders."""
    return trace.path if isinstance(trace, Trace) else path_of(trace, "trace")


def _trace(meta: TraceMeta) -> Trace:
    return Trace(
        meta.path,
        meta.program,
        meta.input,
        meta.threads,
        meta.accesses,
        meta.sampling is not None,
        meta,
    )
