"""Runs a built program of a suite under capture and makes a trace folder of the result."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autofinity.capture.build import runtime_folder
from autofinity.capture.recorded_run import run_recorded
from autofinity.capture.request import AHEAD, CaptureRequest, arguments_of, run_in_words
from autofinity.capture.trace_folder import (
    empty,
    is_whole,
    keep,
    recorded,
    sampling_of,
    trace_folder,
)
from autofinity.capture.unrecorded import why_nothing_was_recorded
from autofinity.model.errors import CaptureError, TraceError, UsageError
from autofinity.trace.meta import TraceMeta, read_meta


def capture(request: CaptureRequest, environment: Mapping[str, str] = os.environ) -> TraceMeta:
    """Capture one run, or return an existing trace when nothing that the trace depends on has
    changed.

    Raises `UsageError` for a thread count or size that the program does not accept, `CaptureError`
    when the program fails, gives a wrong answer, takes too long or its trace cannot be written.
    """
    spec = request.spec
    if not spec.threads.allows(request.threads):
        raise UsageError(
            f"program {spec.name} does not run with {request.threads} threads; "
            f"allowed: {spec.threads}"
        )
    argv = arguments_of(request)
    key = _key(request, argv)
    existing = _existing(request.folder, key)
    if existing is not None:
        return existing
    with trace_folder(request.out, request.folder.name, spec.name) as partial:
        existing = _existing(request.folder, key)  # another process may just have made it
        if existing is not None:
            return existing
        meta = _captured(request, argv, key, partial, environment)
        if meta.sampling is not None and _is_short(request, meta):
            empty(partial)
            meta = _captured(replace(request, sampling=None), argv, key, partial, environment)
        keep(partial, meta)
    return meta


def _captured(
    request: CaptureRequest,
    argv: tuple[str, ...],
    key: str,
    partial: Path,
    environment: Mapping[str, str],
) -> TraceMeta:
    (partial / "work").mkdir()
    run_recorded(request, argv, partial, environment)
    return _describe(request, argv, key, partial)


def _is_short(request: CaptureRequest, meta: TraceMeta) -> bool:
    """Whether the region ends before the second window, so that the run is quickly recorded
    whole.
    """
    return request.sampling is not None and meta.roi_accesses < request.sampling.spacing


def _key(request: CaptureRequest, argv: tuple[str, ...]) -> str:
    state = hashlib.sha256()
    runtime = (runtime_folder() / "libtsan.so.2").read_bytes()
    for part in (
        *run_in_words(request, argv),
        str(AHEAD),
        *(() if request.sampling is None else (f"sampling {request.sampling}",)),
        hashlib.sha256(runtime).hexdigest(),
    ):
        state.update(os.fsencode(part) + b"\0")
    return state.hexdigest()[:16]


def programs_of(out: Path, argv: Sequence[str]) -> list[Path]:
    """Files that a run of the arguments may execute: the named program, and the built files."""
    first = [Path(found)] if (found := shutil.which(argv[0])) is not None else []
    return first + sorted(path for path in out.rglob("*") if path.is_file())


def _existing(folder: Path, key: str) -> TraceMeta | None:
    try:
        meta = read_meta(folder)
    except TraceError:
        return None
    from autofinity._core import trace

    try:
        whole = trace.summary(str(folder))["digest"] == meta.digest
    except TraceError:
        return None
    return meta if whole and meta.key == key else None


def _describe(request: CaptureRequest, argv: tuple[str, ...], key: str, partial: Path) -> TraceMeta:
    spec = request.spec
    if not is_whole(partial):
        raise CaptureError(
            f"{spec.name} ran, but nothing was recorded; "
            + why_nothing_was_recorded(partial, programs_of(request.built.out, argv))
        )
    facts = recorded(partial)
    if request.built.counted == "blocks" and facts.of_run["instructions"] == "counted":
        facts.of_run["instructions"] = "approximated"
    if facts.roi_begins == 0:
        raise CaptureError(
            f'{spec.name} never began its region of interest (roi = "{spec.roi}"); call '
            "autofinity_roi_begin() and autofinity_roi_end(), or set roi to "
            '"parallel" or "whole" in the manifest'
        )
    return TraceMeta(
        path=request.folder,
        program=spec.name,
        suite=request.suite.name,
        input=request.size,
        arguments=argv,
        threads=request.threads,
        roi=spec.roi,
        key=key,
        sampling=sampling_of(partial, request.sampling),
        **facts.of_run,
    )
