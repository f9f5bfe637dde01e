"""Captured programs: every access and synchronisation event of their threads, in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autofinity.model.errors import UsageError
from autofinity.reporter import SILENT, Reporter
from autofinity.trace.meta import TraceMeta, read_meta


@dataclass(frozen=True, slots=True)
class Trace:
    """A captured program, without its events."""

    path: Path
    """Its folder."""
    program: str
    input: str
    """The size of its input, by name."""
    threads: int
    """That it was told."""
    accesses: int
    """Loads and stores of all threads."""
    sampled: bool
    """Whether windows of a long run are recorded, not all of it."""
    inside: TraceMeta = field(repr=False)
    """A type of the inside, which may change."""


def load_trace(folder: Path | str) -> Trace:
    """The trace in a folder of `capture_traces` or `autofinity capture`.

    Raises `AutofinityError` where there is none or it is damaged.
    """
    return _trace(read_meta(Path(folder)))


def capture_traces(
    programs: Sequence[str],
    folder: Path | str,
    *,
    threads: int = 8,
    size: str = "small",
    suite: Path | None = None,
    reporter: Reporter = SILENT,
) -> list[Trace]:
    """Compile programs of a suite for capture and run them; a trace each, kept in `folder`, where
    what is there already is not done again.

    `suite` is a manifest, by default the shipped one; `programs` empty are all. Inputs that are too
    long to be recorded whole are sampled. Raises `AutofinityError` for an unknown program or size,
    and where one cannot be built or run.
    """
    from autofinity.resources import shipped
    from autofinity.trace.manifest import load_suite
    from autofinity.workflow.capture import capture_traces as captured

    if threads < 1:
        raise UsageError(f"{threads} threads; expected at least 1")
    found = captured(
        load_suite(suite or shipped("training", "suite.toml")),
        tuple(programs),
        threads,
        size,
        Path(folder),
        sample="auto",
        reporter=reporter,
    )
    return [_trace(meta) for meta in found]


def folder_of(trace: Trace | Path | str) -> Path:
    """Of what `workflow` asks for by that."""
    return trace.path if isinstance(trace, Trace) else Path(trace)


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
