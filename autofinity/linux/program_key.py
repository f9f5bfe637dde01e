"""The key of a program that already runs, as the launcher makes it before exec (`program.c`).

The key is made of path, size and time of the program's file; for an interpreter also of its
arguments up to the first that is no option, with size and time of that file. A script that was
started by its `#!` line has its own name for the launcher and its interpreter's name for the
kernel: the two keys differ.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.errors import CapabilityError

_INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|bash|sh|dash|zsh|ksh|java|julia|node|lua|php|R|Rscript|octave)[0-9.]*"
)


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """The file that a process runs, and the key of this version of the file."""

    path: str
    key: str


def running_program(pid: int) -> RunningProgram:
    """The program that a process runs. Raises `CapabilityError`: ended, hidden, or a kernel
    thread.
    """
    proc = Path(f"/proc/{pid}")
    try:
        path = str((proc / "exe").readlink())
        info = (proc / "exe").stat()
        arguments = (proc / "cmdline").read_bytes().split(b"\0")[1:-1]
        here = str((proc / "cwd").readlink())
    except OSError as error:
        raise CapabilityError(
            f"the program of process {pid} cannot be read: {error.strerror}; expected a running "
            "program "
            "of the same user (or root's rights), and no kernel thread"
        ) from error
    digest = hashlib.sha256(_text(os.fsencode(path)) + _file(info))
    if _INTERPRETER.fullmatch(Path(path).name):
        for argument in arguments:
            option = argument.startswith(b"-")
            real = None if option else _real(os.fsencode(here), argument)
            digest.update(_text(real or argument))
            if real is not None:
                digest.update(_file(os.stat(real)))  # noqa: PTH116 - bytes need not be text
            if not option:
                break
    return RunningProgram(path, digest.hexdigest())


def _real(here: bytes, argument: bytes) -> bytes | None:
    """Path as from realpath(3); None for a missing file, and for an empty name."""
    given = os.path.join(here, argument)  # noqa: PTH118
    if not argument or not os.path.exists(given):  # noqa: PTH110
        return None
    try:
        return os.path.realpath(given, strict=True)
    except OSError:  # /dev/stdin that is a pipe, for one
        return None


def _text(text: bytes) -> bytes:
    return text + b"\0"


def _file(info: os.stat_result) -> bytes:
    seconds, nanoseconds = divmod(info.st_mtime_ns, 1_000_000_000)
    return f"{info.st_size} {seconds}.{nanoseconds:09d}".encode() + b"\0"
