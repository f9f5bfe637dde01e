"""The key of a program that already runs, as the launcher makes it before exec (`program.c`).

The key is made of path, size and time of the program's file; for an interpreter also of its
arguments up to the first that is neither an option nor the value of one, with size and time of
files among them; for a command that runs another program, of its arguments up to this program, and
of those that count for the program. A script that was started by its `#!` line has its own name for
the launcher and its interpreter's name for the kernel: the two keys differ.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
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
_RUNS_ANOTHER = frozenset(
    {
        "env",
        "time",
        "timeout",
        "nice",
        "ionice",
        "chrt",
        "nohup",
        "setsid",
        "stdbuf",
        "taskset",
        "numactl",
        "hwloc-bind",
        "likwid-pin",
        "setarch",
        "systemd-run",
        "mpirun",
        "mpiexec",
        "orterun",
        "mpiexec.hydra",
        "prterun",
        "srun",
        "busybox",
        "coreutils",
    }
)
"""Commands that run the program that is named among their arguments; and files of many commands."""
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
        here = os.fsencode((proc / "cwd").readlink())
        environment = (proc / "environ").read_bytes().split(b"\0")
    except OSError as error:
        raise CapabilityError(
            f"the program of process {pid} cannot be read: {error.strerror}; expected a running "
            "program "
            "of the same user (or root's rights), and no kernel thread"
        ) from error
    digest = hashlib.sha256(_text(os.fsencode(path)) + _file(info))
    folders = next((each[5:] for each in environment if each.startswith(b"PATH=")), None)
    where = _Where(here, b"/bin:/usr/bin" if folders is None else folders)
    for part in _that_count(where, Path(path).name, iter(arguments)):
        digest.update(part)
    return RunningProgram(path, digest.hexdigest())


@dataclass(frozen=True, slots=True)
class _Where:
    """Where a process finds files and programs."""

    here: bytes
    path: bytes

    def program(self, name: bytes) -> bytes | None:
        """Real path of the program that execvp(3) would run; None: there is none."""
        folders = [b""] if b"/" in name else self.path.split(b":")
        for folder in folders if name else ():
            file = os.path.join(self.here, folder, name)  # noqa: PTH118
            if os.path.isfile(file) and os.access(file, os.X_OK):  # noqa: PTH113
                return _real(self.here, file)
        return None


def _that_count(where: _Where, name: str, arguments: Iterator[bytes]) -> Iterator[bytes]:
    """Bytes of the arguments that are part of the name of the program called `name`."""
    while name in _RUNS_ANOTHER:
        for argument in arguments:
            found = None if argument.startswith(b"-") else where.program(argument)
            yield _described(found, argument)
            if found is not None:
                name = os.fsdecode(os.path.basename(found))  # noqa: PTH119
                break
        else:
            return
    with_value = _WITH_VALUE.get(_VERSION.sub("", name))
    if with_value is None:
        return
    have_value = with_value.encode().split()
    value = False  # of the option before
    for argument in arguments:
        option = not value and argument.startswith(b"-")
        yield _described(None if option else _real(where.here, argument), argument)
        if not option and not value:
            return
        value = option and argument in have_value


def _described(file: bytes | None, argument: bytes) -> bytes:
    if file is None:
        return _text(argument)
    return _text(file) + _file(os.stat(file))  # noqa: PTH116 - bytes need not be text


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
