"""The recorded run of a built program, and why it gives no trace."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autofinity.capture.build import runtime_folder
from autofinity.capture.request import AHEAD, CaptureRequest, environment_of, folder_of, stdin_of
from autofinity.child_program import ChildProgram
from autofinity.model.errors import CaptureError, NoSpaceError

SLOWDOWN = 20
"""Factor on the manifest's time-out for a captured run."""
_SHOWN = 600
_TOO_MANY = "more events than a replay has memory for"
"""Text of the runtime's message (native/capture/state/failure.h)."""
_FULL_BYTES = 1 << 16
_PROBED_BYTES = 1 << 16


def run_recorded(
    request: CaptureRequest,
    argv: tuple[str, ...],
    partial: Path,
    environment: Mapping[str, str],
) -> None:
    """Run the program with its recorder, which writes into the folder `partial`.

    Raises `CaptureError` unless the program ended successfully with the expected output.
    """
    work = partial / "work"
    what = f"{request.spec.name} ({shlex.join(argv)})"
    said = _Said(work / ".stdout", work / ".stderr")
    try:
        code = _exit_code(request, argv, work, said, _recording(request, partial, environment))
    except OSError as error:
        raise CaptureError(f"cannot start {what}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CaptureError(
            f"{what} did not end within {_limit_s(request):g} s under capture; "
            "raise its timeout_s in the manifest or take a smaller input"
        ) from None
    expected = said.matches(request.spec.expect)
    if code != 0 or not expected:
        _refuse_a_full_disk(request, partial)
    _refuse_what_the_recorder_refused(request, said.by_the_recorder())
    if code < 0:
        raise CaptureError(
            f"{what} was ended by {signal.Signals(-code).name} under capture; it said: {said}"
        )
    if code != 0:
        raise CaptureError(
            f"{what} ended with exit code {code} under capture, expected 0; it said: {said}"
        )
    if not expected:
        raise CaptureError(
            f"{what} did not print what its manifest expects, /{request.spec.expect}/; it said: "
            f"{said}"
        )


@dataclass(frozen=True, slots=True)
class _Said:
    """Files with what a program printed."""

    stdout: Path
    stderr: Path

    def matches(self, expected: str) -> bool:
        text = self.stdout.read_text(errors="replace")
        return re.search(expected, text, re.MULTILINE) is not None

    def by_the_recorder(self) -> str:
        """Why the recorder stopped; empty: it did not."""
        text = _tail(self.stderr, 1 << 16)
        said = re.search(r"^autofinity capture: (.*)$", text, re.MULTILINE)
        return said[1] if said is not None else ""

    def __str__(self) -> str:
        return _tail(self.stderr) or _tail(self.stdout)


def _limit_s(request: CaptureRequest) -> float:
    return request.spec.timeout_s * SLOWDOWN


def _recording(
    request: CaptureRequest, partial: Path, environment: Mapping[str, str]
) -> Mapping[str, str]:
    """Environment of the program with the settings of the recorder."""
    env = environment_of(request, environment)
    library = str(runtime_folder())
    env["LD_LIBRARY_PATH"] = ":".join(p for p in (library, env.get("LD_LIBRARY_PATH", "")) if p)
    env.update(
        AUTOFINITY_CAPTURE_DIR=str(partial),
        AUTOFINITY_CAPTURE_ROI=request.spec.roi,
        AUTOFINITY_CAPTURE_AHEAD=str(AHEAD),
        # The width never changes: the environment is part of the program's stack.
        AUTOFINITY_CAPTURE_RECORDER=f"{os.getpid():010d}",
    )
    env.pop("AUTOFINITY_CAPTURE_SAMPLE", None)
    env.pop("AUTOFINITY_CAPTURE_MOST_EVENTS", None)
    if request.sampling is not None:
        env["AUTOFINITY_CAPTURE_SAMPLE"] = str(request.sampling)
    elif request.most_events is not None:
        env["AUTOFINITY_CAPTURE_MOST_EVENTS"] = str(request.most_events)
    if request.built.counted == "code":
        env["AUTOFINITY_CAPTURE_BLOCKS"] = "code"
    elif request.built.blocks is not None:
        env["AUTOFINITY_CAPTURE_BLOCKS"] = str(request.built.blocks.resolve())
    return env


def _exit_code(
    request: CaptureRequest,
    argv: tuple[str, ...],
    work: Path,
    said: _Said,
    environment: Mapping[str, str],
) -> int:
    """Raises `OSError`, `subprocess.TimeoutExpired`, `SuiteError`."""
    with (
        said.stdout.open("wb") as out,
        said.stderr.open("wb") as err,
        stdin_of(request).open("rb") as standard_input,
        ChildProgram(
            argv,
            own_session=True,
            env=environment,
            cwd=folder_of(request, work),
            stdin=standard_input,
            stdout=out,
            stderr=err,
        ) as process,
    ):
        return process.wait(timeout=_limit_s(request))


def _refuse_a_full_disk(request: CaptureRequest, partial: Path) -> None:
    """On a full disk the program's own output and the recorder's message are lost as well."""
    state = os.statvfs(partial)
    if state.f_bavail * state.f_frsize < _FULL_BYTES or not _can_grow(partial):
        raise NoSpaceError(
            f"no space is left for the trace of {request.spec.name} in {partial.parent}; free some "
            "or name another folder, then start again: finished traces are kept"
        )


def _can_grow(folder: Path) -> bool:
    """Whether its user may write more there; a file system that has space may have a quota."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBED_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno not in (errno.ENOSPC, errno.EDQUOT)
    return True


def _refuse_what_the_recorder_refused(request: CaptureRequest, why: str) -> None:
    if why.startswith(_TOO_MANY):
        raise CaptureError(
            f"{request.spec.name} with an input of size {request.size} has more than "
            f"{(request.most_events or 0) / 1e6:.0f} M events, which a replay has no memory for "
            "here; capture it sampled (`autofinity capture --sampled`) where windows will do, take "
            "a smaller --size, or free some memory"
        )
    if why:
        raise CaptureError(f"the trace of {request.spec.name} could not be written: {why}")


def _tail(path: Path, size: int = _SHOWN) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - size))
        return file.read().decode(errors="replace").strip()
