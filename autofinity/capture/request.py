"""One run to capture: its program, arguments, folders and environment."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autofinity.capture.build import Built, expand
from autofinity.capture.sampling import WindowPlan
from autofinity.model.errors import SuiteError
from autofinity.trace.manifest import ProgramSpec, Suite

AHEAD = 50_000
"""Accesses that a thread may be ahead of another (fair capture)."""


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


def run_in_words(request: CaptureRequest, argv: Sequence[str]) -> Iterator[str]:
    """All that the manifest and the build say of a run: where a part changes, it is another run.

    Raises `SuiteError` as `stdin_of` does.
    """
    spec, out = request.spec, str(request.built.out)
    yield request.built.digest
    yield from (argument.replace(out, "{out}") for argument in argv)
    yield from (f"{name}={value}" for name, value in sorted(spec.threads.env.items()))
    yield from (spec.roi, spec.expect, spec.cwd)
    with stdin_of(request).open("rb") as file:
        yield hashlib.file_digest(file, "sha256").hexdigest()
    yield str(request.threads)


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
