"""The key of a program that already runs, as the launcher makes it before exec (`program.c`).

The key is made of path, size and time of the program's file; for an interpreter also of its
arguments up to the first that is neither an option nor the value of one, with size and time of
files among them. A script that was started by its `#!` line has its own name for the launcher and
its interpreter's name for the kernel: the two keys differ.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.errors import CapabilityError

_WITH_VALUE = {
    "python": "-W -X --check-hash-based-pycs",
    "pypy": "-W -X",
    "perl": "-I",
    "ruby": "-I -r -C -E",
    "bash": "-o -O --init-file --rcfile",
    "sh": "-o",
    "dash": "-o",
    "zsh": "-o",
    "ksh": "-o",
    "java": "-cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules "
    "--limit-modules --add-exports --add-opens --add-reads --patch-module "
    "--enable-native-access --source",
    "julia": "-t --threads --gcthreads -p --procs --machine-file -L --load -J --sysimage -C "
    "--cpu-target -H --home --heap-size-hint",
    "node": "-r --require --import --loader --experimental-loader -C --conditions --title",
    "lua": "-e -l",
    "php": "-c -d -z",
    "R": "",
    "Rscript": "",
    "octave": "-p --path",
}
"""Interpreters, and their options that have their value in the next argument, where that is not the
program itself."""
_VERSION = re.compile(r"[0-9.]*\Z")


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
    for argument in _that_count(Path(path).name, arguments):
        real = _real(os.fsencode(here), argument.text) if argument.may_be_file else None
        digest.update(_text(real or argument.text))
        if real is not None:
            digest.update(_file(os.stat(real)))  # noqa: PTH116 - bytes need not be text
    return RunningProgram(path, digest.hexdigest())


@dataclass(frozen=True, slots=True)
class _Argument:
    text: bytes
    may_be_file: bool


def _that_count(name: str, arguments: Sequence[bytes]) -> Iterator[_Argument]:
    """Arguments of the program called `name` that are part of the program's name."""
    with_value = _WITH_VALUE.get(_VERSION.sub("", name))
    if with_value is None:
        return
    have_value = with_value.encode().split()
    value = False  # of the option before
    for argument in arguments:
        option = not value and argument.startswith(b"-")
        yield _Argument(argument, may_be_file=not option)
        if not option and not value:
            return
        value = option and argument in have_value


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
