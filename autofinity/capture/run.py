"""Runs a built program of a suite under capture and makes a trace folder of the result."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autofinity.capture.build import Built, expand, runtime_folder
from autofinity.capture.sampling import WindowPlan
from autofinity.capture.trace_folder import (
    empty,
    is_whole,
    keep,
    recorded,
    sampling_of,
    trace_folder,
)
from autofinity.capture.unrecorded import why_nothing_was_recorded
from autofinity.child_program import ChildProgram
from autofinity.model.errors import CaptureError, SuiteError, TraceError, UsageError
from autofinity.trace.manifest import ProgramSpec, Suite
from autofinity.trace.meta import TraceMeta, read_meta

SLOWDOWN = 20
"""Factor on the manifest's time-out for a captured run."""
_SHOWN = 600
_TOO_MANY = "more events than a replay has memory for"
"""Text of the runtime's message (native/capture/state/failure.h)."""
_FULL_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """One run to capture."""

    suite: Suite
    spec: ProgramSpec
    built: Built
    threads: int
    size: str
    out: Path
    """Folder in which the trace folder is made."""
    ahead: int = 50_000
    """Accesses that a thread may be ahead of another (fair capture); 0: as the host runs them."""
    most_events: int | None = None
    """Largest number of events of a run; a run with more is stopped and gives no trace. None: any
    number."""
    sampling: WindowPlan | None = None
    """Plan of windows. None: the whole run is recorded. A run whose region has fewer accesses than
    the distance between windows is recorded whole, too."""

    @property
    def folder(self) -> Path:
        """Folder of the trace: `PROGRAM-SIZE-THREADSt`."""
        return self.out / f"{self.spec.name}-{self.size}-{self.threads}t"


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
    _run(request, argv, partial, environment)
    return _describe(request, argv, key, partial)


def _is_short(request: CaptureRequest, meta: TraceMeta) -> bool:
    """Whether the region ends before the second window, so that the run is quickly recorded
    whole.
    """
    return request.sampling is not None and meta.roi_accesses < request.sampling.spacing


def arguments_of(request: CaptureRequest) -> tuple[str, ...]:
    """The argument vector of the run, with placeholders replaced."""
    values = _values(request)
    # Split first: a folder's name may hold blanks and quotes.
    split = shlex.split(request.spec.input_of(request.size))
    words = [expand(word, values) for word in split]
    argv: list[str] = []
    for argument in request.spec.run:
        if argument == "{input}":
            argv += words
        else:
            argv.append(expand(argument, {**values, "input": " ".join(words)}))
    return tuple(argv)


def stdin_of(request: CaptureRequest) -> Path:
    """The file that the run reads as its standard input. Raises `SuiteError` where it is no
    file.
    """
    text = request.spec.stdin
    path = _place(request, text) if text else Path(os.devnull)
    if text and not path.is_file():
        raise SuiteError(
            f"program {request.spec.name}: its stdin {path} is no file; expected one, where a "
            "relative path is looked for beside the manifest"
        )
    return path


def folder_of(request: CaptureRequest, otherwise: Path) -> Path:
    """The folder that the run starts in. Raises `SuiteError` where the manifest's is no folder."""
    text = request.spec.cwd
    path = _place(request, text) if text else otherwise
    if not path.is_dir():
        raise SuiteError(
            f"program {request.spec.name}: its cwd {path} is no folder; expected one, "
            "such as {dir}"
        )
    return path


def _place(request: CaptureRequest, text: str) -> Path:
    return request.suite.folder / expand(text, _values(request))


def _values(request: CaptureRequest) -> dict[str, str]:
    """Placeholders of a run, except the input."""
    return {
        "out": str(request.built.out),
        "dir": str(request.suite.folder),
        "threads": str(request.threads),
        "jobs": "1",
    }


def environment_of(request: CaptureRequest, environment: Mapping[str, str]) -> dict[str, str]:
    """Environment of the program: its thread count, and no OpenMP settings except the manifest's.

    Waiting threads must sleep: there are fewer cores than threads here.
    """
    env = {k: v for k, v in environment.items() if not k.startswith(("OMP_", "GOMP_", "TSAN_"))}
    count = str(request.threads)
    env.update({k: v.replace("{threads}", count) for k, v in request.spec.threads.env.items()})
    env.update(OMP_WAIT_POLICY="passive", OMP_DYNAMIC="false")
    return env


def _key(request: CaptureRequest, argv: tuple[str, ...]) -> str:
    state = hashlib.sha256()
    runtime = (runtime_folder() / "libtsan.so.2").read_bytes()
    out = str(request.built.out)
    for part in (
        request.built.digest,
        *(argument.replace(out, "{out}") for argument in argv),
        *(f"{k}={v}" for k, v in sorted(request.spec.threads.env.items())),
        request.spec.roi,
        request.spec.expect,
        request.spec.cwd,
        _digest_of_file(stdin_of(request)),
        str(request.threads),
        str(request.ahead),
        *(() if request.sampling is None else (f"sampling {request.sampling}",)),
        hashlib.sha256(runtime).hexdigest(),
    ):
        state.update(os.fsencode(part) + b"\0")
    return state.hexdigest()[:16]


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def _run(
    request: CaptureRequest,
    argv: tuple[str, ...],
    partial: Path,
    environment: Mapping[str, str],
) -> None:
    """Run the program; raise `CaptureError` unless it ended successfully with the expected
    output.
    """
    spec = request.spec
    env = environment_of(request, environment)
    library = str(runtime_folder())
    env["LD_LIBRARY_PATH"] = ":".join(p for p in (library, env.get("LD_LIBRARY_PATH", "")) if p)
    env.update(
        AUTOFINITY_CAPTURE_DIR=str(partial),
        AUTOFINITY_CAPTURE_ROI=spec.roi,
        AUTOFINITY_CAPTURE_AHEAD=str(request.ahead),
    )
    env.pop("AUTOFINITY_CAPTURE_SAMPLE", None)
    env.pop("AUTOFINITY_CAPTURE_MOST_EVENTS", None)
    if request.most_events is not None and request.sampling is None:
        env["AUTOFINITY_CAPTURE_MOST_EVENTS"] = str(request.most_events)
    if request.sampling is not None:
        env["AUTOFINITY_CAPTURE_SAMPLE"] = str(request.sampling)
    if request.built.counted == "code":
        env["AUTOFINITY_CAPTURE_BLOCKS"] = "code"
    elif request.built.blocks is not None:
        env["AUTOFINITY_CAPTURE_BLOCKS"] = str(request.built.blocks.resolve())
    what = f"{spec.name} ({shlex.join(argv)})"
    limit = spec.timeout_s * SLOWDOWN
    stdout, stderr = partial / "work" / ".stdout", partial / "work" / ".stderr"
    with stdout.open("wb") as out, stderr.open("wb") as err:
        try:
            with (
                stdin_of(request).open("rb") as standard_input,
                ChildProgram(
                    argv,
                    own_session=True,
                    env=env,
                    cwd=folder_of(request, partial / "work"),
                    stdin=standard_input,
                    stdout=out,
                    stderr=err,
                ) as process,
            ):
                code = process.wait(timeout=limit)
        except OSError as error:
            raise CaptureError(f"cannot start {what}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise CaptureError(
                f"{what} did not end within {limit:g} s under capture; "
                "raise its timeout_s in the manifest or take a smaller input"
            ) from None
    said = _tail(stderr) or _tail(stdout)
    expected = re.search(spec.expect, stdout.read_text(errors="replace"), re.MULTILINE)
    # On a full disk the program's own output and the runtime's message are lost as well.
    if (code != 0 or not expected) and _free_bytes(partial) < _FULL_BYTES:
        raise CaptureError(
            f"no space is left for the trace of {spec.name} in {partial.parent}; free some or name "
            "another folder, then start again: finished traces are kept"
        )
    refused = re.search(r"^autofinity capture: (.*)$", _tail(stderr, 1 << 16), re.MULTILINE)
    if refused is not None and refused[1].startswith(_TOO_MANY):
        raise CaptureError(
            f"{spec.name} with an input of size {request.size} has more than "
            f"{(request.most_events or 0) / 1e6:.0f} M events, which a replay has no memory for "
            "here; capture it sampled (`autofinity capture --sampled`) where windows will do, take "
            "a smaller --size, or free some memory"
        )
    if refused is not None:
        raise CaptureError(f"the trace of {spec.name} could not be written: {refused[1]}")
    if code < 0:
        raise CaptureError(
            f"{what} was ended by {signal.Signals(-code).name} under capture; it said: {said}"
        )
    if code != 0:
        raise CaptureError(f"{what} ended with exit code {code} under capture; it said: {said}")
    if not expected:
        raise CaptureError(
            f"{what} did not print what its manifest expects, /{spec.expect}/; it said: {said}"
        )


def _free_bytes(folder: Path) -> int:
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize


def _tail(path: Path, size: int = _SHOWN) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - size))
        return file.read().decode(errors="replace").strip()


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
