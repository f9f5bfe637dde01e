"""Reasons why a run was not recorded, from the program's file and from traces of the runtime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from autofinity.capture.elf import Elf, read_elf

_OF_COMPILERS = (
    *("ld-linux", "libanl.", "libatomic.", "libautofinity-marks.", "libc++.", "libc++abi."),
    *("libc.", "libdl.", "libgcc_s.", "libgfortran.", "libgomp.", "libm.", "libmvec."),
    *("libpthread.", "libquadmath.", "libresolv.", "librt.", "libstdc++.", "libtsan."),
    *("libunwind.", "libutil."),
)
"""Begins of the names of libraries with known costs, of functions that are recorded, or of few
instructions."""


def not_recordable(path: Path) -> str | None:
    """Reason why no capture can record the program's threads; None where one can, or for a file
    that is no program.
    """
    elf = read_elf(path)
    if elf is None or not elf.starts:
        return None
    if elf.is_go:
        return (
            f"{path} is a Go program, and a capture does not see the threads and waits of Go's "
            "own run-time system; expected a program that uses POSIX threads or libgomp of the "
            "system"
        )
    if elf.is_static:
        return (
            f"{path} is statically linked, so a capture cannot see which thread waits for "
            "which; link it dynamically (without -static)"
        )
    return None


def why_nothing_was_recorded(partial: Path, programs: Iterable[Path]) -> str:
    """Reason for a run that ended successfully; `programs` are the files that it may have
    executed.
    """
    found = [(path, elf) for path in programs if (elf := read_elf(path)) is not None]
    for path, _ in found:
        if (reason := not_recordable(path)) is not None:
            return reason
    if (partial / "owner").exists():
        return (
            "the runtime recorded its begin but no end: it ended by a system call of its own, "
            "not by exit() or the end of main(), or became another program; a program with its own "
            "start-up code (-nostartfiles) has to call exit()"
        )
    if any(_has_runtime(elf) for _, elf in found):
        return (
            "it was built for capture, but its own start-up code does not start the capture "
            "runtime; build it without -nostartfiles and -nostdlib"
        )
    return (
        "its build must pass the flags of {cflags} (or {cxxflags}, {fflags}) and {ldflags} to "
        "compiler and linker"
    )


def libraries_not_recorded(files: Iterable[Path]) -> tuple[str, ...]:
    """Libraries that these programs and libraries need, and whose work is not in a trace of them,
    sorted: neither built for capture with them nor of the compiler or the C library.
    """
    built = {path.name: elf for path in files if (elf := read_elf(path)) is not None}
    recorded = {name for name, elf in built.items() if _has_runtime(elf)}
    needed = {name for elf in built.values() if _has_runtime(elf) for name in elf.libraries}
    return tuple(sorted(name for name in needed - recorded if not name.startswith(_OF_COMPILERS)))


def library_warning(program: str, libraries: Sequence[str]) -> str:
    """One line on the result of `libraries_not_recorded`."""
    return (
        f"{program} uses {', '.join(libraries)}, not built for capture: its work and its waits by "
        "atomics are not in the trace; if threads spend time there, build it with the flags of the "
        "capture, too, or capture the binary (`autofinity capture -- PROGRAM`)"
    )


def _has_runtime(elf: Elf) -> bool:
    return any(name.startswith(("__tsan_", "__af_")) for name in elf.imports)
