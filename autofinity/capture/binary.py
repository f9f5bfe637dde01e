"""Captures an unmodified binary: QEMU runs it, our plugin in QEMU sees every access.

    qemu-x86_64 ─ plugin ─┐ accesses, instructions
       binary ─ preload ──┴─► thread records ─► trace      waits between threads: pthread_*, GOMP_*

The order rules are those of compiled programs (`native/capture`), with one exception: among the
program's own atomic instructions and volatile variables, only those that a loop waited for are
ordered.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autofinity.capture.elf import X86_64, read_elf
from autofinity.capture.request import AHEAD
from autofinity.capture.synchronisation import lost_order
from autofinity.capture.trace_folder import is_whole, keep, recorded, trace_folder
from autofinity.capture.unrecorded import not_recordable
from autofinity.child_program import ChildProgram
from autofinity.model.errors import CaptureError, UsageError
from autofinity.preload import preloadable
from autofinity.trace.meta import StreamMeta, TraceMeta

INPUT = "binary"
"""Name in a binary's trace, in place of an input size."""
_OLDEST, _NEWEST = 6, 8
_BUSY = 0.05


@dataclass(frozen=True, slots=True)
class BinaryRequest:
    """One run of a binary to capture."""

    argv: tuple[str, ...]
    out: Path
    """Folder in which the trace folder is made."""
    threads: int | None = None
    """Value of OMP_NUM_THREADS; None: the program's own choice."""
    roi: Literal["marks", "parallel", "whole"] = "parallel"
    to_stderr: bool = False
    """Whether the program's output goes to our stderr."""


@dataclass(frozen=True, slots=True)
class BinaryCapture:
    """A kept trace, and how the program ended."""

    meta: TraceMeta
    exit_code: int
    lost_order: Mapping[str, str]
    """Functions that the program uses whose order is not in the trace → reason
    (`synchronisation.py`)."""


def emulator(environment: Mapping[str, str] = os.environ) -> str:
    """Path of a QEMU that can load our plugin. Raises `CaptureError`, with the remedy."""
    if platform.machine() != "x86_64":
        raise CaptureError(
            f"binaries can be captured on x86_64 only, this is {platform.machine()}; "
            "compile the program for capture, as a suite (see docs/suites.md)"
        )
    found = shutil.which("qemu-x86_64", path=environment.get("PATH"))
    if found is None:
        raise CaptureError(
            "capturing a binary needs QEMU's user-mode emulator, and there is no qemu-x86_64 on "
            f"the path; install QEMU {_OLDEST} to {_NEWEST} with plugins, for example "
            "`apt install qemu-user` on Debian 12; or compile the program for capture, as a suite "
            "(see docs/suites.md)"
        )
    said = subprocess.run(
        [found, "--version"], capture_output=True, text=True, errors="replace", check=False
    ).stdout
    version = re.search(r"version (\d+)\.", said)
    if version is None or not _OLDEST <= int(version[1]) <= _NEWEST:
        raise CaptureError(
            f"{found} is {said.splitlines()[0] if said else 'no QEMU'}; its plugin interface does "
            f"not fit our plugin: expected QEMU {_OLDEST} to {_NEWEST}"
        )
    usage = subprocess.run(
        [found, "--help"], capture_output=True, text=True, errors="replace", check=False
    ).stdout
    if "-plugin" not in usage:
        raise CaptureError(
            f"{found} was built without plugins (a static build?); "
            "expected one that has the option -plugin, such as Debian's package qemu-user"
        )
    return found


def library_folder() -> Path:
    """Folder of the plugin and the preloaded library. Raises `CaptureError` when not built."""
    folder = Path(__file__).resolve().parent.parent / "lib" / "qemu"
    for name in (_PLUGIN, _PRELOAD):
        if not (folder / name).exists():
            raise CaptureError(
                f"{folder / name} is missing; install autofinity with a C compiler at hand "
                "(in a source tree: make dev)"
            )
    return folder


_PLUGIN = "autofinity-qemu.so"
_PRELOAD = "libautofinity-preload.so"


def capture_binary(
    request: BinaryRequest, environment: Mapping[str, str] = os.environ
) -> BinaryCapture:
    """Run the binary under QEMU and keep its trace as `OUT/NAME-binary-THREADSt`.

    The program has our standard streams and our working folder. An existing trace is replaced.
    Raises `UsageError` for a file that is no dynamically linked program of this machine, and
    `CaptureError` when QEMU is missing or no complete trace was recorded.
    """
    qemu = emulator(environment)
    program = _program(request.argv, environment)
    out = Path(os.path.realpath(request.out))
    with (
        trace_folder(out, f"{program.name}-{INPUT}", program.name) as partial,
        preloadable(library_folder() / _PRELOAD) as preload,
    ):
        argv = [*_command(qemu, request, partial, preload), str(program), *request.argv[1:]]
        stdout = sys.stderr.fileno() if request.to_stderr else None
        with ChildProgram(argv, own_session=False, env={**environment}, stdout=stdout) as process:
            code = process.wait()
        what = shlex.join(request.argv)
        if code < 0:
            raise CaptureError(
                f"{what} was ended by {signal.Signals(-code).name} under capture; where it is not "
                f"without, what {Path(qemu).name} says above may explain why"
            )
        if not is_whole(partial):
            raise CaptureError(
                f"{what} ran to its end (exit code {code}), but no complete trace was recorded; "
                "unless a line above says why, the program may have started another one in its "
                "place or cleared LD_PRELOAD"
            )
        facts = recorded(partial)
        if facts.roi_begins == 0:
            raise CaptureError(
                f"{what} never began its region of interest ({request.roi}); take --roi whole "
                "for a program that starts no thread"
            )
        threads = request.threads or _busy(facts.of_run["streams"])
        meta = TraceMeta(
            path=out / f"{program.name}-{INPUT}-{threads}t",
            program=program.name,
            suite="",
            input=INPUT,
            arguments=request.argv,
            threads=threads,
            roi=request.roi,
            key=hashlib.sha256(program.read_bytes()).hexdigest()[:16],
            **facts.of_run,
        )
        keep(partial, meta)
    return BinaryCapture(meta, code, lost_order([program]))


def _command(qemu: str, request: BinaryRequest, partial: Path, preload: str) -> list[str]:
    guest = {
        "LD_PRELOAD": preload,
        "AUTOFINITY_CAPTURE_DIR": str(partial),
        "AUTOFINITY_CAPTURE_ROI": request.roi,
        "AUTOFINITY_CAPTURE_AHEAD": str(AHEAD),
        # Waiting threads must sleep: there are fewer cores than threads here.
        "OMP_WAIT_POLICY": "passive",
        "OMP_DYNAMIC": "false",
    }
    if request.threads is not None:
        guest["OMP_NUM_THREADS"] = str(request.threads)
    # Without ERMS the C library copies by vector instructions, not byte by byte.
    command = [qemu, "-cpu", "max,-erms", "-plugin", str(library_folder() / _PLUGIN)]
    for name, value in guest.items():
        command += ["-E", f"{name}={value}"]
    return command


def _program(argv: Sequence[str], environment: Mapping[str, str]) -> Path:
    """The file that `argv` would run. Raises `UsageError` unless the file can be captured."""
    found = shutil.which(argv[0], path=environment.get("PATH"))
    if found is None:
        raise UsageError(f"no program {argv[0]!r}: no such executable file")
    path = Path(found).resolve()
    with path.open("rb") as file:
        head = file.read(2)
    if head == b"#!":
        raise UsageError(f"{path} is a script; name its interpreter: -- INTERPRETER {argv[0]} …")
    elf = read_elf(path)
    if elf is None or elf.machine != X86_64 or not elf.starts:
        raise UsageError(f"{path} is not a 64-bit x86 program; expected one")
    reason = not_recordable(path)
    if reason is not None:
        raise UsageError(f"{reason}, or compile the program for capture (docs/suites.md)")
    return path


def _busy(streams: tuple[StreamMeta, ...]) -> int:
    """Number of streams that do a fair part of the work: the program's own number of threads."""
    most = max(stream.roi_accesses for stream in streams)
    return sum(stream.roi_accesses >= _BUSY * most for stream in streams)
